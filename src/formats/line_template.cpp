#include "formats/line_template.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>

namespace detdiff::formats {
namespace {

// Both loops are written without branches or tables, so that compilers turn them into vector code:
// they run over 64 digits of every line.
std::uint8_t nibble(char c) {
  const auto digit = static_cast<std::uint8_t>(c - '0');
  const auto letter = static_cast<std::uint8_t>(c - 'a' + 10);
  return digit <= 9 ? digit : letter;
}

bool all_hex(const char* text, std::size_t size) {
  std::uint8_t bad = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto digit = static_cast<std::uint8_t>(text[i] - '0');
    const auto letter = static_cast<std::uint8_t>(text[i] - 'a');
    bad |= static_cast<std::uint8_t>((digit > 9) & (letter > 5));
  }
  return bad == 0;
}

void decode_hex(const char* text, std::size_t bytes, std::uint8_t* out) {
  std::array<std::uint8_t, 64> nibbles;
  for (std::size_t i = 0; i < 2 * bytes; ++i) nibbles[i] = nibble(text[i]);
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<std::uint8_t>(nibbles[2 * i] << 4 | nibbles[2 * i + 1]);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The end of a JSON number that begins at `at`, or `at` if there is none.
std::size_t number_end(std::string_view line, std::size_t at) {
  std::size_t i = at;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < line.size() && is_digit(line[i])) ++i;
    return i - first;
  };
  if (i < line.size() && line[i] == '-') ++i;
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && line[first] == '0') || whole > 18) return at;
  if (i < line.size() && line[i] == '.') {
    ++i;
    if (digits() == 0) return at;
  }
  if (i < line.size() && (line[i] == 'e' || line[i] == 'E')) {
    ++i;
    if (i < line.size() && (line[i] == '+' || line[i] == '-')) ++i;
    // Two digits of exponent cannot overflow a double; the parser judges the rest.
    const std::size_t exponent = digits();
    if (exponent == 0 || exponent > 2) return at;
  }
  return i;
}

bool is_digest(Span::Role role) { return role == Span::Role::digest || role == Span::Role::in_digest; }

}  // namespace

LineTemplate::LineTemplate(std::string_view line, ParsedLine& parsed)
    : m_text(line),
      m_spans(std::move(parsed.spans)),
      m_record(std::move(parsed.record)),
      m_occurrence_given(parsed.occurrence_given) {
  m_found.resize(m_spans.size());
  for (std::size_t i = 0; i < m_spans.size(); ++i) m_found[i] = {m_spans[i].begin, m_spans[i].end};
  m_iteration = m_record.site.iteration.value_or(0);
  m_sequence = m_record.sequence;
  const auto add = [this](const std::vector<Fingerprint>& tensors) {
    for (const auto& tensor : tensors) {
      const FingerprintMatch self = detdiff::match(tensor, tensor);
      if (self.outcome == FingerprintMatch::Outcome::ignored) {
        ++m_ignored;
      } else {
        m_evidence.emplace_back(self.evidence, self.kind ? static_cast<int>(*self.kind) : -1);
      }
    }
  };
  add(m_record.outputs);
  if (m_record.inputs_recorded) add(m_record.inputs);
}

bool LineTemplate::match(std::string_view line) {
  std::size_t at = 0;        // in line
  std::size_t literal = 0;   // in m_text
  for (std::size_t i = 0; i < m_spans.size(); ++i) {
    const Span& span = m_spans[i];
    const std::size_t size = span.begin - literal;
    if (line.size() - at < size ||
        std::memcmp(line.data() + at, m_text.data() + literal, size) != 0) {
      return false;
    }
    at += size;
    literal = span.end;
    const std::size_t begin = at;
    if (is_digest(span.role)) {
      const std::size_t length = span.end - span.begin;
      if (line.size() - at < length || !all_hex(line.data() + at, length)) return false;
      at += length;
    } else if (span.role == Span::Role::iteration || span.role == Span::Role::sequence) {
      std::uint64_t number = 0;
      while (at < line.size() && is_digit(line[at])) {
        number = number * 10 + static_cast<std::uint64_t>(line[at] - '0');
        ++at;
      }
      if (at == begin || at - begin > 18 || (line[begin] == '0' && at - begin > 1)) return false;
      if (span.role == Span::Role::iteration) {
        m_iteration = static_cast<std::int64_t>(number);
      } else {
        m_sequence = number;
      }
    } else {
      at = number_end(line, begin);
      if (at == begin) return false;
    }
    m_found[i] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at)};
  }
  const std::size_t rest = m_text.size() - literal;
  return line.size() - at == rest &&
         std::memcmp(line.data() + at, m_text.data() + literal, rest) == 0;
}

void LineTemplate::apply(std::string_view line) {
  for (std::size_t i = 0; i < m_spans.size(); ++i) {
    const Span& span = m_spans[i];
    const std::string_view text = line.substr(m_found[i].begin, m_found[i].end - m_found[i].begin);
    switch (span.role) {
      case Span::Role::iteration: m_record.site.iteration = m_iteration; break;
      case Span::Role::sequence: m_record.sequence = m_sequence; break;
      case Span::Role::digest:
      case Span::Role::in_digest: {
        auto& tensors = span.role == Span::Role::digest ? m_record.outputs : m_record.inputs;
        Digest& digest = tensors[span.tensor].digests[span.item];
        decode_hex(text.data(), text.size() / 2, digest.bytes.data());
        break;
      }
      case Span::Role::value:
        m_record.outputs[span.tensor].value = canonical_number(text);
        break;
      case Span::Role::statistic: {
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        m_record.outputs[span.tensor].statistics[span.item].value = value;
        break;
      }
    }
  }
}

std::size_t LineTemplate::footprint() const {
  std::size_t bytes = sizeof *this + m_text.size() + m_spans.size() * sizeof(Span) * 2;
  bytes += m_record.site.name.size() + m_record.site.module.size() + m_record.site.tensor.size();
  for (const auto& attribute : m_record.attributes) {
    bytes += sizeof attribute + attribute.name.size() + attribute.value.size();
  }
  for (const auto* list : {&m_record.inputs, &m_record.outputs}) {
    for (const auto& tensor : *list) {
      bytes += sizeof tensor + tensor.shape.size() * 8 + tensor.digests.size() * sizeof(Digest) +
               tensor.statistics.size() * sizeof(Statistic);
    }
  }
  return bytes;
}

}  // namespace detdiff::formats
