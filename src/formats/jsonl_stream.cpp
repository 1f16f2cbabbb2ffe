#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "formats/json_cursor.hpp"
#include "formats/jsonl_run.hpp"
#include "formats/line_memory.hpp"
#include "formats/line_reader.hpp"

// Most lines of a trace repeat the line at the same place of the iteration before, with other numbers
// and digests. LineMemory predicts that line; only what it cannot predict goes through the JSON parser.

namespace detdiff::formats {
namespace {

std::string_view without_cr(std::string_view line) {
  return !line.empty() && line.back() == '\r' ? line.substr(0, line.size() - 1) : line;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::uint64_t record_key(const Record& record, bool occurrence_given) {
  std::uint64_t key = record.keys.identity;
  if (occurrence_given) key += (record.site.occurrence + 1) * 0x9e3779b97f4a7c15u;
  return record.site.iteration ? key : ~key;
}

class JsonlStream final : public Stream {
 public:
  JsonlStream(std::shared_ptr<ByteSource> source, std::size_t max_line,
              std::unique_ptr<LineParser> parser, std::optional<std::uint32_t> rank)
      : m_reader(std::move(source), max_line), m_parser(std::move(parser)), m_rank(rank) {}

  Result<const Record*> next() override;
  Result<Skipped> skip_equal(Stream& other) override;
  Result<const Record*> read_at(const Position& position) override;
  [[nodiscard]] std::optional<Damage> damage() const override { return m_damage; }
  [[nodiscard]] bool finished() const override { return m_finished; }
  [[nodiscard]] std::uint64_t bytes_read() const override { return m_reader.raw_position(); }
  [[nodiscard]] std::vector<Notice> notices() const override;

 private:
  Result<const Record*> at_end();
  Result<Record*> predicted(std::string_view line);
  Result<Record*> parsed(std::string_view line);
  Result<void> check_rank(Record& record);
  Result<void> check_sequence(std::uint64_t sequence);
  /// Begins a visit if `iteration` is another one than before.
  void visit(std::optional<std::int64_t> iteration);
  /// Counts a record in its visit; returns its occurrence, or an error for a second one.
  Result<std::uint32_t> count(std::uint64_t key, const Record& record, bool occurrence_given);
  Error error_here(std::string message, std::string hint = {}) const {
    return {Errc::damaged, fmt::format("{}:{}", m_reader.name(), m_reader.number()),
            std::move(message), std::move(hint)};
  }

  struct EqualLines {
    std::size_t bytes = 0;
    std::size_t last_line = 0;
    std::uint64_t lines = 0;
    bool ended = false;  ///< something differs, or has to be looked at more closely
  };
  Result<EqualLines> skip_in_memory(JsonlStream& other, Skipped& skipped);

  LineReader m_reader;
  std::unique_ptr<LineParser> m_parser;
  std::optional<std::uint32_t> m_rank;
  LineMemory m_memory;
  ParsedLine m_parsed;
  const Record* m_last = nullptr;
  std::optional<std::int64_t> m_iteration;
  std::optional<std::uint64_t> m_sequence;
  bool m_begun = false;
  bool m_after_header = false;
  std::uint64_t m_records = 0;
  std::uint64_t m_segment_begin = 0;  // records before the last header
  bool m_jumped = false;              // read_at left records out: they cannot be counted
  bool m_finished = false;
  std::optional<Damage> m_damage;
};

Result<const Record*> JsonlStream::at_end() {
  m_last = nullptr;
  if (m_reader.truncated() && !m_damage) {
    m_damage = Damage{{m_reader.number(), 0}, "the compressed data end inside a frame"};
  }
  return static_cast<const Record*>(nullptr);
}

std::vector<Notice> JsonlStream::notices() const {
  std::vector<Notice> notices;
  if (m_reader.grew()) {
    notices.push_back({"file_grew", fmt::format("{}: grew while it was read; only what it held at "
                                                "the start was compared", m_reader.name())});
  }
  if (m_reader.replaced()) {
    notices.push_back({"file_replaced", fmt::format("{}: was replaced while it was read; the file "
                                                    "opened first was compared", m_reader.name())});
  }
  return notices;
}

Result<const Record*> JsonlStream::next() {
  while (true) {
    auto more = m_reader.next();
    if (!more) return std::move(more).error();
    if (!*more) return at_end();
    const std::string_view line = without_cr(m_reader.line());
    if (is_blank(line)) continue;

    auto record = predicted(line);
    if (record && *record == nullptr) record = parsed(line);
    if (!record) {
      Error error = std::move(record).error();
      // A line without its end that is no JSON was cut off while being written.
      JsonLine probe;
      if (!m_reader.terminated() && error.code == Errc::damaged && !probe.parse(line)) {
        m_damage = Damage{{m_reader.number(), m_reader.byte()},
                          fmt::format("the last line is cut off after {} bytes", line.size())};
        return at_end();
      }
      if (error.where.empty()) {
        error.where = fmt::format("{}:{}", m_reader.name(), m_reader.number());
      }
      if (error.hint.empty()) {
        error.hint = error.code == Errc::damaged
                         ? "what was written in the middle of a log is not read around: copy the file again, "
                           "or cut it before this line"
                         : "detdiff help formats says what is read";
      }
      return error;
    }
    if (*record == nullptr) continue;
    m_finished = false;
    (*record)->starts_segment = m_after_header && m_records != 0;
    m_after_header = false;
    ++m_records;
    (*record)->position = {m_reader.number(), m_reader.byte()};
    m_last = *record;
    return m_last;
  }
}

void JsonlStream::visit(std::optional<std::int64_t> iteration) {
  if (m_begun && (!iteration || m_iteration == iteration)) return;
  m_memory.begin_visit();
  m_begun = true;
  if (iteration) m_iteration = iteration;
}

Result<std::uint32_t> JsonlStream::count(std::uint64_t key, const Record& record,
                                         bool occurrence_given) {
  const std::uint32_t before = m_memory.count(key);
  if (!occurrence_given) return before;
  if (before != 0) {
    return error_here(fmt::format("this record is in the file twice: {}", to_string(record.site)),
                      "were two logs of one rank joined?");
  }
  return record.site.occurrence;
}

Result<void> JsonlStream::check_sequence(std::uint64_t sequence) {
  if (!m_parser->ordered()) return {};
  if (m_sequence && sequence <= *m_sequence) {
    return error_here(
        fmt::format("expected a sequence above {}, got {}", *m_sequence, sequence),
        "records of one file are numbered in the order of execution; was the file sorted or joined?");
  }
  m_sequence = sequence;
  return {};
}

Result<void> JsonlStream::check_rank(Record& record) {
  if (m_rank && record.site.rank && *record.site.rank != *m_rank) {
    return error_here(
        fmt::format("expected rank {}, got rank {}", *m_rank, *record.site.rank),
        "a file holds the records of one rank; was it renamed, or were two files joined?");
  }
  if (!m_rank) m_rank = record.site.rank;
  record.site.rank = m_rank;
  return {};
}

Result<Record*> JsonlStream::predicted(std::string_view line) {
  LineMemory::Entry* entry = m_memory.expected();
  if (entry == nullptr || entry->line == nullptr || !entry->line->match(line)) {
    return static_cast<Record*>(nullptr);
  }
  LineTemplate& expected = *entry->line;
  const auto iteration = expected.iteration();
  if (iteration && m_iteration != iteration) {
    if (m_memory.full()) return static_cast<Record*>(nullptr);
    visit(iteration);
  } else if (m_memory.expected_is_used()) {
    return static_cast<Record*>(nullptr);
  }
  if (auto checked = check_sequence(expected.sequence()); !checked) return std::move(checked).error();
  Record& record = expected.record();
  expected.apply(line);
  auto occurrence = count(entry->key, record, entry->occurrence_given);
  if (!occurrence) return std::move(occurrence).error();
  record.site.occurrence = *occurrence;
  m_memory.accept();
  return &record;
}

Result<Record*> JsonlStream::parsed(std::string_view line) {
  if (auto done = m_parser->parse(line, m_parsed); !done) return std::move(done).error();
  if (m_parsed.kind != ParsedLine::Kind::record) {
    if (m_parsed.kind == ParsedLine::Kind::trailer) {
      const std::uint64_t promised = m_parsed.record.sequence;
      const std::uint64_t found = m_records - m_segment_begin;
      if (!m_jumped && promised != found) {
        return error_here(fmt::format("expected {} records before this trailer, got {}", promised, found),
                          "records were lost or added after the run wrote them");
      }
      m_finished = true;
    }
    if (m_parsed.kind == ParsedLine::Kind::header) {
      m_segment_begin = m_records;
      m_finished = false;
      m_after_header = true;
      m_sequence.reset();
    }
    m_memory.lose_track();
    return static_cast<Record*>(nullptr);
  }
  Record& record = m_parsed.record;
  if (auto checked = check_rank(record); !checked) return std::move(checked).error();
  if (auto checked = check_sequence(record.sequence); !checked) return std::move(checked).error();
  seal(record);
  visit(record.site.iteration);
  const std::uint64_t key = record_key(record, m_parsed.occurrence_given);
  auto occurrence = count(key, record, m_parsed.occurrence_given);
  if (!occurrence) return std::move(occurrence).error();
  record.site.occurrence = *occurrence;
  LineTemplate* learned = m_memory.learn(key, line, m_parsed);
  if (learned == nullptr) return &record;
  learned->record().site.occurrence = *occurrence;
  return &learned->record();
}

Result<Skipped> JsonlStream::skip_equal(Stream& other) {
  Skipped skipped;
  auto* that = dynamic_cast<JsonlStream*>(&other);
  if (that == nullptr || m_last == nullptr || that->m_last == nullptr ||
      m_iteration != that->m_iteration) {
    return skipped;
  }
  while (true) {
    for (LineReader* reader : {&m_reader, &that->m_reader}) {
      auto filled = reader->fill();
      if (!filled) return std::move(filled).error();
      if (!*filled) return skipped;
    }
    auto equal = skip_in_memory(*that, skipped);
    if (!equal) return std::move(equal).error();
    if (equal->lines != 0) {
      m_reader.skip(equal->bytes, equal->lines, equal->last_line);
      that->m_reader.skip(equal->bytes, equal->lines, equal->last_line);
      skipped.last = {m_reader.number(), m_reader.byte()};
      m_records += equal->lines;
      that->m_records += equal->lines;
      that->m_memory.lose_track();
    }
    if (equal->ended) return skipped;
  }
}

Result<JsonlStream::EqualLines> JsonlStream::skip_in_memory(JsonlStream& other, Skipped& skipped) {
  EqualLines result;
  const std::string_view mine = m_reader.ahead();
  const std::string_view theirs = other.m_reader.ahead();
  while (true) {
    const void* newline =
        std::memchr(mine.data() + result.bytes, '\n', mine.size() - result.bytes);
    if (newline == nullptr) return result;
    const std::size_t size =
        static_cast<std::size_t>(static_cast<const char*>(newline) - mine.data()) - result.bytes + 1;
    if (theirs.size() - result.bytes < size) {
      // Their line may still be cut off by the block; one that has ended already differs.
      result.ended = std::memchr(theirs.data() + result.bytes, '\n',
                                 theirs.size() - result.bytes) != nullptr;
      return result;
    }
    result.ended = true;
    if (std::memcmp(mine.data() + result.bytes, theirs.data() + result.bytes, size) != 0) return result;
    LineMemory::Entry* expected = m_memory.expected();
    if (expected == nullptr || m_memory.expected_is_used()) return result;
    const auto numbers = expected->outline.match(without_cr(mine.substr(result.bytes, size - 1)));
    if (!numbers || (numbers->iteration && numbers->iteration != m_iteration)) return result;
    if (m_parser->ordered()) {
      if ((m_sequence && numbers->sequence <= *m_sequence) ||
          (other.m_sequence && numbers->sequence <= *other.m_sequence)) {
        return result;
      }
      m_sequence = other.m_sequence = numbers->sequence;
    }
    const std::uint32_t before = m_memory.count(expected->key);
    if (other.m_memory.count(expected->key) != before) {
      return Error{Errc::damaged, fmt::format("{}:{}", other.m_reader.name(),
                                              other.m_reader.number() + result.lines + 1),
                   "this record is in the file twice", "were two logs of one rank joined?"};
    }
    const SelfEvidence& evidence = m_memory.evidence(*expected);
    for (const auto& [strength, kind] : evidence.tensors) {
      ++skipped.evidence.tensors;
      ++skipped.evidence.by_strength[static_cast<std::size_t>(strength)];
      if (kind >= 0) ++skipped.evidence.by_kind[static_cast<std::size_t>(kind)];
    }
    skipped.evidence.ignored += evidence.ignored;
    skipped.evidence.note_digits(evidence.printed_digits);
    ++skipped.records;
    m_memory.accept();
    result.last_line = result.bytes;
    result.bytes += size;
    ++result.lines;
    result.ended = false;
  }
}

Result<const Record*> JsonlStream::read_at(const Position& position) {
  if (auto moved = m_reader.seek(position.line, position.byte); !moved) return std::move(moved).error();
  m_memory = LineMemory();
  m_parser->reset();
  m_iteration.reset();
  m_sequence.reset();
  m_begun = false;
  m_jumped = true;
  return next();
}

}  // namespace

std::unique_ptr<Stream> make_jsonl_stream(std::shared_ptr<ByteSource> source, std::size_t max_line,
                                          std::unique_ptr<LineParser> parser,
                                          std::optional<std::uint32_t> rank) {
  return std::make_unique<JsonlStream>(std::move(source), max_line, std::move(parser), rank);
}

JsonlRun::JsonlRun(RunInfo info, std::vector<std::shared_ptr<ByteSource>> sources,
                   std::size_t max_line, MakeParser make_parser)
    : m_sources(std::move(sources)), m_max_line(max_line), m_make_parser(std::move(make_parser)) {
  m_info = std::move(info);
}

Result<std::unique_ptr<Stream>> JsonlRun::open(std::size_t index) const {
  return make_jsonl_stream(m_sources[index], m_max_line, m_make_parser(), m_info.ranks[index].rank);
}

}  // namespace detdiff::formats
