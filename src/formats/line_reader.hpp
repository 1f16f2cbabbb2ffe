#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/result.hpp"
#include "formats/byte_source.hpp"

namespace detdiff::formats {

/// Cuts a byte stream into lines. Memory is one block of 128 KiB and the longest line.
class LineReader {
 public:
  /// Readable bytes behind every line, as JSON parsers want them.
  static constexpr std::size_t padding = 64;

  LineReader(std::shared_ptr<ByteSource> source, std::size_t max_line);

  /// Moves to the next line; false at the end. `line()` is then valid until the next call of next()
  /// or fill(). Errors: I/O, a line over the limit.
  Result<bool> next();

  [[nodiscard]] std::string_view line() const { return m_line; }  ///< without "\n"
  [[nodiscard]] bool terminated() const { return m_terminated; }  ///< false: last line, no "\n"
  [[nodiscard]] std::uint64_t number() const { return m_number; }  ///< 1-based
  [[nodiscard]] std::uint64_t byte() const { return m_byte; }      ///< offset of line()

  /// The bytes that are in memory behind line(), starting with the next line.
  [[nodiscard]] std::string_view ahead() const {
    return {m_buffer.data() + m_begin, m_end - m_begin};
  }
  /// Steps over `bytes` of ahead(), which are `lines` whole lines; the last of them becomes line().
  void skip(std::size_t bytes, std::uint64_t lines, std::size_t last_line);
  /// Makes sure that ahead() holds at least one whole line, if there is one; false at the end of
  /// the input (ahead() may then hold an unterminated line).
  Result<bool> fill();

  /// Continues at a line that begins at `byte`.
  Result<void> seek(std::uint64_t line_number, std::uint64_t byte);

  /// After the end: the input stopped inside a compressed frame.
  [[nodiscard]] bool truncated() const { return m_stream && m_stream->truncated(); }
  [[nodiscard]] bool grew() const { return m_stream && m_stream->grew(); }
  [[nodiscard]] bool replaced() const { return m_stream && m_stream->replaced(); }
  [[nodiscard]] std::uint64_t raw_position() const { return m_stream ? m_stream->raw_position() : 0; }
  [[nodiscard]] const std::string& name() const { return m_source->name(); }

 private:
  Result<void> open();

  std::shared_ptr<ByteSource> m_source;
  std::size_t m_max_line;
  std::unique_ptr<ByteStream> m_stream;
  std::vector<char> m_buffer;
  std::size_t m_begin = 0;    ///< first byte not yet handed out
  std::size_t m_scanned = 0;  ///< no newline in [m_begin, m_scanned)
  std::size_t m_end = 0;
  std::uint64_t m_base = 0;  ///< stream offset of m_buffer[0]
  bool m_eof = false;
  std::string_view m_line;
  bool m_terminated = true;
  std::uint64_t m_number = 0;
  std::uint64_t m_byte = 0;
};

}  // namespace detdiff::formats
