#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace detdiff::test {

/// The whole content of a file; empty if it cannot be read.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Makes `path` hold exactly `bytes`; the inode stays if the file exists.
inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// A folder of its own for a test, removed with everything in it at the end.
class TempDir {
 public:
  TempDir() {
    std::string path = (std::filesystem::temp_directory_path() / "detdiff-test.XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    m_path = path;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }

  [[nodiscard]] const std::string& path() const { return m_path; }

  /// The path of `name` in the folder; the folders on the way are made.
  [[nodiscard]] std::string path(std::string_view name) const {
    const std::filesystem::path whole = std::filesystem::path(m_path) / name;
    std::filesystem::create_directories(whole.parent_path());
    return whole.string();
  }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    std::string whole = path(name);
    write_file(whole, bytes);
    return whole;
  }

  /// The names directly in the folder, hidden ones too, in no order.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

 private:
  std::string m_path;
};

}  // namespace detdiff::test
