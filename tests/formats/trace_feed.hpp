#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/detdiff_trace.hpp"
#include "support/catch.hpp"

namespace detdiff::test {

inline constexpr std::string_view k_header = R"({"detdiff_trace":1,"rank":3})";

/// Feeds lines to a parser, each with other bytes behind it.
class Feed {
 public:
  explicit Feed(bool with_header = true) : m_parser(formats::make_detdiff_trace_parser()) {
    if (with_header) REQUIRE(line(k_header).ok());
  }

  Result<void> line(std::string_view text) {
    m_text.assign(text).append(64, '"');
    return m_parser->parse(std::string_view(m_text).substr(0, text.size()), m_out);
  }
  std::string error(std::string_view text) {
    const auto done = line(text);
    if (done) return "accepted";
    CHECK(done.error().where.empty());
    m_code = done.error().code;
    return done.error().message;
  }
  Record record(std::string_view text) {
    const auto done = line(text);
    CAPTURE(text, done ? "" : done.error().message);
    REQUIRE(done.ok());
    REQUIRE(m_out.kind == formats::ParsedLine::Kind::record);
    return m_out.record;
  }
  [[nodiscard]] const formats::ParsedLine& out() const { return m_out; }
  [[nodiscard]] Errc code() const { return m_code; }
  formats::LineParser& parser() { return *m_parser; }

 private:
  std::unique_ptr<formats::LineParser> m_parser;
  std::string m_text;
  formats::ParsedLine m_out;
  Errc m_code = Errc::io;
};

}  // namespace detdiff::test
