#include "formats/json_cursor.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "detdiff/fingerprint.hpp"
#include "formats/json_scan.hpp"
#include "model/json_text.hpp"

namespace detdiff::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// A short quotation of input for a message, cut at a character.
std::string excerpt(std::string_view text) {
  std::size_t size = 60;
  if (text.size() <= size) return std::string(text);
  while (size > 0 && is_continuation(text[size])) --size;
  return std::string(text.substr(0, size)) + "...";
}

}  // namespace

/// One pass over one line. Every member returns nullptr after an error, which is in `m_error`.
class JsonLine::Walker {
 public:
  Walker(JsonLine& owner, std::string_view line)
      : m_owner(owner),
        m_nodes(owner.m_nodes),
        m_begin(line.data()),
        m_end(line.data() + line.size()) {}

  Result<void> run() {
    const char* p = skip_space(m_begin);
    if (p == m_end || *p != '{') {
      fail(p, "a JSON object");
    } else if ((p = walk(p)) != nullptr && (p = skip_space(p)) != m_end) {
      fail(p, "the end of the line");
    }
    if (m_error) return *std::move(m_error);
    return {};
  }

 private:
  const char* skip_space(const char* p) const {
    if (p != m_end && static_cast<unsigned char>(*p) > ' ') return p;
    while (p != m_end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) ++p;
    return p;
  }

  [[gnu::cold]] std::nullptr_t fail(Errc code, std::string text) {
    m_error = Error{code, {}, std::move(text)};
    return nullptr;
  }

  [[gnu::cold]] std::nullptr_t fail(const char* p, std::string_view expected) {
    std::string text = "expected ";
    text.append(expected).append(" at byte ").append(std::to_string(p - m_begin + 1));
    if (p == m_end) return fail(Errc::damaged, text + ", found the end of the line");
    const auto byte = static_cast<unsigned char>(*p);
    if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view hex = "0123456789abcdef";
      text.append(", found the control character 0x") += hex[byte >> 4];
      return fail(Errc::damaged, text + hex[byte & 15]);
    }
    const char* const next = std::find_if_not(p + 1, m_end, is_continuation);
    return fail(Errc::damaged, text.append(", found '").append(p, next).append("'"));
  }

  const char* walk(const char* p);
  const char* value(const char* p, std::string_view key);
  const char* literal(const char* p, std::string_view word, JsonToken::Kind kind,
                      std::string_view key);
  const char* number(const char* p, std::string_view key);
  const char* string_end(const char* p, bool& escaped);
  const char* key(const char* p, std::string_view& out);
  const char* open(const char* p, JsonToken::Kind kind, std::string_view key);
  const char* close(const char* p);
  bool unique_keys(std::uint32_t object, std::uint32_t end);
  bool duplicate(const Node& node);

  [[gnu::cold]] std::nullptr_t too_many() {
    return fail(Errc::limit, "more than " + std::to_string(max_nodes) + " JSON values in one line");
  }

  const char* add(JsonToken::Kind kind, const char* begin, const char* end, std::string_view key) {
    if (m_nodes.size() == max_nodes) return too_many();
    const auto next = static_cast<std::uint32_t>(m_nodes.size() + 1);
    m_nodes.push_back({{kind, {begin, static_cast<std::size_t>(end - begin)}}, key, m_depth, next});
    return end;
  }

  JsonLine& m_owner;
  std::vector<Node>& m_nodes;
  const char* m_begin;
  const char* m_end;
  std::uint32_t m_depth = 0;  ///< m_owner.m_open.size()
  bool m_in_object = false;   ///< what the innermost open container is
  std::optional<Error> m_error;
};

/// From the root's '{' to behind its '}'.
const char* JsonLine::Walker::walk(const char* p) {
  p = open(p, JsonToken::Kind::object, {});
  bool first = true;  // nothing was read in the innermost container yet
  while (p != nullptr) {
    p = skip_space(p);
    if (p != m_end && *p == (m_in_object ? '}' : ']')) {
      p = close(p);
      if (m_depth == 0) return p;
      first = false;
      continue;
    }
    if (!first) {
      if (p == m_end || *p != ',') return fail(p, m_in_object ? "',' or '}'" : "',' or ']'");
      p = skip_space(p + 1);
    }
    std::string_view name;
    if (m_in_object && (p = key(p, name)) == nullptr) return nullptr;
    const std::uint32_t depth = m_depth;
    p = value(p, name);
    first = m_depth > depth;
  }
  return nullptr;
}

const char* JsonLine::Walker::value(const char* p, std::string_view key) {
  if (p == m_end) return fail(p, "a value");
  switch (*p) {
    case '"': {
      bool escaped = false;
      const char* const end = string_end(p + 1, escaped);
      return end == nullptr ? nullptr : add(JsonToken::Kind::string, p, end, key);
    }
    case '{':
      return open(p, JsonToken::Kind::object, key);
    case '[':
      return open(p, JsonToken::Kind::array, key);
    case 't':
      return literal(p, "true", JsonToken::Kind::boolean, key);
    case 'f':
      return literal(p, "false", JsonToken::Kind::boolean, key);
    case 'n':
      return literal(p, "null", JsonToken::Kind::null, key);
    case 'N':
    case 'I':
      return fail(p, "a finite number");
    default:
      break;
  }
  if (*p == '-' || is_digit(*p)) return number(p, key);
  return fail(p, "a value");
}

const char* JsonLine::Walker::literal(const char* p, std::string_view word, JsonToken::Kind kind,
                                      std::string_view key) {
  for (const char c : word) {
    if (p == m_end || *p != c) return fail(p, word);
    ++p;
  }
  return add(kind, p - word.size(), p, key);
}

const char* JsonLine::Walker::number(const char* p, std::string_view key) {
  const char* const begin = p;
  const auto skip_digits = [this, &p] {
    const char* const from = p;
    while (p != m_end && is_digit(*p)) ++p;
    return p != from;
  };
  const bool negative = *p == '-';
  if (negative) ++p;
  const char* const digits = p;
  if (!skip_digits()) return fail(p, p != m_end && *p == 'I' ? "a finite number" : "a digit");
  if (*digits == '0' && p - digits > 1) return fail(digits, "a number without leading zeros");
  bool integer = true;
  if (p != m_end && *p == '.') {
    integer = false;
    ++p;
    if (!skip_digits()) return fail(p, "a digit");
  }
  if (p != m_end && (*p == 'e' || *p == 'E')) {
    integer = false;
    ++p;
    if (p != m_end && (*p == '+' || *p == '-')) ++p;
    if (!skip_digits()) return fail(p, "a digit");
  }
  const std::string_view size(digits, static_cast<std::size_t>(p - digits));
  if (integer ? !fits_64_bits(size, negative) : overflows(size)) {
    return fail(Errc::damaged, std::string(integer ? "number past 64 bits" : "number not finite") +
                                   " at byte " + std::to_string(begin - m_begin + 1) + ": " +
                                   excerpt({begin, static_cast<std::size_t>(p - begin)}));
  }
  return add(integer ? JsonToken::Kind::integer : JsonToken::Kind::number, begin, p, key);
}

/// From behind the opening quote to behind the closing one.
const char* JsonLine::Walker::string_end(const char* p, bool& escaped) {
  for (;;) {
    p = plain_text_end(p, m_end);
    if (p == m_end) return fail(p, "'\"' at the end of a string");
    if (*p == '"') return p + 1;
    if (*p != '\\') return fail(p, "text");
    escaped = true;
    ++p;
    const Escape escape = read_escape({p, static_cast<std::size_t>(m_end - p)});
    if (escape.fault == EscapeFault::lone_surrogate) return fail(p, "a pair of surrogates");
    if (escape.fault == EscapeFault::unknown) return fail(p, "an escape of JSON");
    p += escape.size;
  }
}

/// A key and its colon, to the value behind them.
const char* JsonLine::Walker::key(const char* p, std::string_view& out) {
  if (p == m_end || *p != '"') return fail(p, "'\"' of a key");
  bool escaped = false;
  const char* const end = string_end(p + 1, escaped);
  if (end == nullptr) return nullptr;
  out = {p + 1, static_cast<std::size_t>(end - p - 2)};
  if (escaped) out = m_owner.decode(out);
  p = skip_space(end);
  if (p == m_end || *p != ':') return fail(p, "':' behind a key");
  return skip_space(p + 1);
}

const char* JsonLine::Walker::open(const char* p, JsonToken::Kind kind, std::string_view key) {
  if (m_depth == max_depth) {
    return fail(Errc::limit, "JSON nested deeper than " + std::to_string(max_depth) +
                                 " levels at byte " + std::to_string(p - m_begin + 1));
  }
  const auto index = static_cast<std::uint32_t>(m_nodes.size());
  if (add(kind, p, p + 1, key) == nullptr) return nullptr;
  m_owner.m_open.push_back(index);
  ++m_depth;
  m_in_object = kind == JsonToken::Kind::object;
  return p + 1;
}

const char* JsonLine::Walker::close(const char* p) {
  std::vector<std::uint32_t>& stack = m_owner.m_open;
  const std::uint32_t index = stack.back();
  const auto end = static_cast<std::uint32_t>(m_nodes.size());
  Node& node = m_nodes[index];
  node.next = end;
  const char* const begin = node.token.raw.data();
  node.token.raw = {begin, static_cast<std::size_t>(p + 1 - begin)};
  if (m_in_object && !unique_keys(index, end)) return nullptr;
  stack.pop_back();
  --m_depth;
  m_in_object = m_depth != 0 && m_nodes[stack.back()].token.kind == JsonToken::Kind::object;
  return p + 1;
}

bool JsonLine::Walker::duplicate(const Node& node) {
  fail(Errc::damaged, "duplicate key \"" + excerpt(node.key) +
                          "\" in an object, second one at byte " +
                          std::to_string(node.token.raw.data() - m_begin + 1));
  return false;
}

/// Small objects are checked by a filter of 64 bits, large ones by sorting.
bool JsonLine::Walker::unique_keys(std::uint32_t object, std::uint32_t end) {
  constexpr std::size_t small = 40;
  std::uint64_t seen = 0;
  std::size_t count = 0;
  for (std::uint32_t i = object + 1; i != end; i = m_nodes[i].next) {
    if (++count > small) break;
    const std::uint64_t bit = std::uint64_t{1} << (key_hash(m_nodes[i].key) >> 58);
    if ((seen & bit) != 0) {
      for (std::uint32_t j = object + 1; j != i; j = m_nodes[j].next) {
        if (m_nodes[j].key == m_nodes[i].key) return duplicate(m_nodes[i]);
      }
    }
    seen |= bit;
  }
  if (count <= small) return true;
  std::vector<std::uint32_t>& members = m_owner.m_members;
  members.clear();
  for (std::uint32_t i = object + 1; i != end; i = m_nodes[i].next) members.push_back(i);
  std::sort(members.begin(), members.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int order = m_nodes[a].key.compare(m_nodes[b].key);
    return order != 0 ? order < 0 : a < b;
  });
  const auto twin = std::adjacent_find(
      members.begin(), members.end(),
      [this](std::uint32_t a, std::uint32_t b) { return m_nodes[a].key == m_nodes[b].key; });
  return twin == members.end() || duplicate(m_nodes[*(twin + 1)]);
}

JsonLine::JsonLine() : m_arena(1024) {}

Result<void> JsonLine::parse(std::string_view line) {
  m_line = line;
  m_arena.release();
  m_nodes.clear();
  m_open.clear();
  if (line.size() >= std::numeric_limits<std::uint32_t>::max()) {
    return Error{Errc::limit, {}, "a line of 4 GiB or more"};
  }
  if (!simdjson::validate_utf8(line.data(), line.size())) {
    return Error{
        Errc::damaged, {}, "invalid UTF-8 at byte " + std::to_string(invalid_utf8(line) + 1)};
  }
  auto result = Walker(*this, line).run();
  if (!result) m_nodes.clear();
  return result;
}

std::string_view JsonLine::text(const Node& string_node) {
  const std::string_view raw = string_node.token.raw;
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  return inside.find('\\') == std::string_view::npos ? inside : decode(inside);
}

std::string_view JsonLine::decode(std::string_view inside) {
  // Text never grows by decoding; key_hash() reads eight bytes more.
  char* const begin = static_cast<char*>(m_arena.allocate(inside.size() + 8, 1));
  char* const end = decode_text(inside, begin);
  std::fill_n(end, 8, '\0');
  return {begin, static_cast<std::size_t>(end - begin)};
}

namespace {

// Numbers too small for a double read as zero everywhere; canonical_number leaves them as they are.
std::string number_text(std::string_view raw) {
  double value = 0;
  const auto parsed = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (parsed.ec == std::errc{}) return canonical_number(raw);
  return raw.front() == '-' ? "-0.0" : "0";
}

void append_canonical(std::string& out, JsonLine& line, std::uint32_t index) {
  const JsonLine::Node& node = line.nodes()[index];
  switch (node.token.kind) {
    case JsonToken::Kind::null:
    case JsonToken::Kind::boolean:
      out += node.token.raw;
      return;
    case JsonToken::Kind::integer:
    case JsonToken::Kind::number:
      out += number_text(node.token.raw);
      return;
    case JsonToken::Kind::string:
      append_json_string(out, line.text(node));
      return;
    case JsonToken::Kind::object:
    case JsonToken::Kind::array:
      break;
  }
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = index + 1; i != node.next; i = line.nodes()[i].next) members.push_back(i);
  const bool object = node.token.kind == JsonToken::Kind::object;
  if (object) {
    std::sort(members.begin(), members.end(), [&line](std::uint32_t a, std::uint32_t b) {
      return line.nodes()[a].key < line.nodes()[b].key;
    });
  }
  out += object ? '{' : '[';
  bool first = true;
  for (const std::uint32_t member : members) {
    if (!first) out += ',';
    first = false;
    if (object) {
      append_json_string(out, line.nodes()[member].key);
      out += ':';
    }
    append_canonical(out, line, member);
  }
  out += object ? '}' : ']';
}

}  // namespace

std::string canonical_json(JsonLine& line, std::uint32_t node) {
  std::string out;
  append_canonical(out, line, node);
  return out;
}

}  // namespace detdiff::formats
