#include "formats/golden_metrics.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "formats/golden_document.hpp"
#include "formats/memory_run.hpp"
#include "model/interrupt.hpp"

namespace detdiff::formats {
namespace {

/// Walks over the beginning of a JSON document, as far as it is there. Members return false at its
/// end and where there is no JSON; what is skipped is not validated.
class Head {
 public:
  explicit Head(std::string_view text) : m_text(text) {}

  [[nodiscard]] char peek() {
    m_at = std::min(m_text.find_first_not_of(" \t\r\n", m_at), m_text.size());
    return m_at == m_text.size() ? '\0' : m_text[m_at];
  }

  bool take(char c) {
    if (peek() != c || c == '\0') return false;
    ++m_at;
    return true;
  }

  bool string(std::string_view& inside) {
    if (!take('"')) return false;
    const std::size_t begin = m_at;
    for (; m_at < m_text.size(); ++m_at) {
      if (m_text[m_at] == '\\') {
        ++m_at;
      } else if (m_text[m_at] == '"') {
        inside = m_text.substr(begin, m_at - begin);
        ++m_at;
        return true;
      }
    }
    return false;
  }

  bool skip_value() {
    std::size_t depth = 0;
    do {
      const char c = peek();
      std::string_view ignored;
      if (c == '\0') return false;
      if (c == '"') {
        if (!string(ignored)) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++m_at;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return false;
        --depth;
        ++m_at;
      } else if (c == ',' || c == ':') {
        if (depth == 0) return false;
        ++m_at;
      } else {
        m_at = std::min(m_text.find_first_of(",:{}[]\" \t\r\n", m_at), m_text.size());
      }
    } while (depth > 0);
    return true;
  }

 private:
  std::string_view m_text;
  std::size_t m_at = 0;
};

// True if a member of the object that begins here looks like one of a metric.
bool is_metric(Head& head) {
  if (!head.take('{')) return false;
  do {
    std::string_view key;
    if (!head.string(key) || !head.take(':')) return false;
    const char c = head.peek();
    if (key == "values") return c == '{' || c == '[';
    if (key == "start_step") return c >= '0' && c <= '9';
    if (!head.skip_value()) return false;
  } while (head.take(','));
  return false;
}

Result<std::string> read_document(const ByteSource& source, std::vector<Notice>& notices) {
  auto opened = source.open();
  if (!opened) return std::move(opened).error();
  ByteStream& stream = **opened;
  std::string text;
  while (true) {
    if (interrupt_requested()) return interrupted_error(source.name());
    const std::size_t size = text.size();
    text.resize(size + block_bytes);
    auto count = stream.read(std::span<char>(text).subspan(size));
    if (!count) return std::move(count).error();
    text.resize(size + *count);
    if (text.size() > max_golden_bytes) {
      return Error{Errc::limit, source.name(),
                   fmt::format("a file of golden metrics is read whole and may have {} MiB, "
                               "this one has more",
                               max_golden_bytes >> 20)};
    }
    if (*count == 0) break;
  }
  if (stream.truncated()) {
    return Error{Errc::damaged, source.name(), "the compressed data end inside a frame"};
  }
  if (stream.grew()) {
    notices.push_back({"file_grew", source.name() + ": grew while it was read; only what it held "
                                                    "at the start was compared"});
  }
  if (stream.replaced()) {
    notices.push_back({"file_replaced", source.name() + ": was replaced while it was read; the "
                                                        "file opened first was compared"});
  }
  return text;
}

}  // namespace

Sniff sniff_golden_metrics(const InputFile& file) {
  Head head(file.head);
  std::string_view metric;
  if (!head.take('{') || !head.string(metric) || !head.take(':') || !is_metric(head)) {
    return Sniff::no;
  }
  // JSON Lines: something follows the first object.
  Head whole(file.head);
  return whole.skip_value() && whole.peek() != '\0' ? Sniff::no : Sniff::yes;
}

Result<std::unique_ptr<Run>> open_golden_metrics(const std::string& path, bool,
                                                 std::vector<InputFile> files, const OpenOptions&) {
  if (files.size() != 1) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const InputFile& file : files) names.push_back(file.relative);
    return Error{Errc::usage, path,
                 fmt::format("{} files of golden metrics, each of which is a run", files.size()),
                 "name one of them: " + shortened_list(names)};
  }
  const ByteSource& source = *files.front().source;
  RunInfo info;
  auto text = read_document(source, info.notices);
  if (!text) return std::move(text).error();
  GoldenDocument document(source.name(), *std::move(text));
  if (auto parsed = document.parse(); !parsed) return std::move(parsed).error();

  info.path = path;
  info.format = "golden-metrics";
  info.title = "Megatron-LM golden values (metrics per step)";
  info.metrics_only = true;
  RankInfo rank;
  rank.file = source.name();
  rank.bytes = source.identity().size;
  rank.device = source.identity().device;
  rank.inode = source.identity().inode;
  info.ranks.push_back(std::move(rank));
  for (Notice& notice : document.notices()) info.notices.push_back(std::move(notice));
  std::vector<std::vector<Record>> records;
  records.push_back(document.take_records());
  return std::unique_ptr<Run>(std::make_unique<MemoryRun>(std::move(info), std::move(records)));
}

}  // namespace detdiff::formats
