#include "formats/line_template.hpp"

#include <array>
#include <charconv>
#include <cstring>

#include "formats/line_outline.hpp"

namespace detdiff::formats {
namespace {

// Without branches or tables, so that compilers turn the loops into vector code.
std::uint8_t nibble(char c) {
  const auto digit = static_cast<std::uint8_t>(c - '0');
  const auto letter = static_cast<std::uint8_t>(c - 'a' + 10);
  return digit <= 9 ? digit : letter;
}

void decode_hex(const char* text, std::size_t bytes, std::uint8_t* out) {
  std::array<std::uint8_t, 64> nibbles;
  for (std::size_t i = 0; i < 2 * bytes; ++i) nibbles[i] = nibble(text[i]);
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<std::uint8_t>(nibbles[2 * i] << 4 | nibbles[2 * i + 1]);
  }
}

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
    const SpanText text = read_span(line, begin, span.role, span.end - span.begin);
    if (text.end == begin) return false;
    if (span.role == Span::Role::iteration) m_iteration = static_cast<std::int64_t>(text.number);
    if (span.role == Span::Role::sequence) m_sequence = text.number;
    at = text.end;
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
