#include "model/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "model/json_text.hpp"
#include "model/trace_format.hpp"

namespace detdiff::trace {
namespace {

constexpr std::array<std::string_view, 3> k_not_finite{"nan", "inf", "-inf"};

bool is_not_finite(std::string_view text) {
  return std::find(k_not_finite.begin(), k_not_finite.end(), text) != k_not_finite.end();
}

/// One line in the making, and the first thing that is wrong with it.
class Line {
 public:
  void open(char bracket) {
    separate();
    m_text += bracket;
    m_first = true;
  }
  void close(char bracket) {
    m_text += bracket;
    m_first = false;
  }

  void key(std::string_view name) {
    text(name, "a key");
    m_text += ':';
    m_first = true;
  }

  /// A string; `what` it is, for the message.
  void text(std::string_view value, std::string_view what) {
    separate();
    if (value.size() > max_text_bytes) {
      problem(fmt::format("expected at most {} bytes of text in {}, got {}", max_text_bytes, what,
                          value.size()));
    } else if (const std::size_t at = invalid_utf8(value); at != std::string_view::npos) {
      problem(fmt::format("expected UTF-8 in {}, got another byte at {}", what, at + 1));
    } else {
      append_json_string(m_text, value);
    }
  }

  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value, name);
  }
  void member_if(std::string_view name, std::string_view value) {
    if (!value.empty()) member(name, value);
  }

  template <class Integer>
  void number(Integer value) {
    separate();
    fmt::format_to(std::back_inserter(m_text), "{}", value);
  }
  template <class Integer>
  void number(std::string_view name, Integer value) {
    key(name);
    number(value);
  }

  void truth(std::string_view name) {
    key(name);
    raw("true");
  }

  void real(double value) {
    const std::string written = real_text(value);
    if (std::isfinite(value)) {
      raw(written);
    } else {
      text(written, "a statistic");
    }
  }

  /// JSON text as it is.
  void raw(std::string_view json) {
    separate();
    m_text += json;
  }

  void problem(std::string message) {
    if (m_problem.empty()) m_problem = std::move(message);
  }

  Result<std::string> finish() && {
    if (!m_problem.empty()) return Error{Errc::usage, {}, std::move(m_problem)};
    m_text += '\n';
    return std::move(m_text);
  }

 private:
  void separate() {
    if (!m_first) m_text += ',';
    m_first = false;
  }

  std::string m_text;
  std::string m_problem;
  bool m_first = true;
};

void put_attributes(Line& line, std::string_view key, const std::vector<Attribute>& attributes) {
  if (attributes.empty()) return;
  line.key(key);
  line.open('{');
  const Attribute* last = nullptr;
  for (const Attribute& attribute : attributes) {
    if (last != nullptr && attribute.name <= last->name) {
      line.problem(fmt::format("expected {} sorted by unique names, got \"{}\" behind \"{}\"", key,
                               attribute.name, last->name));
    }
    last = &attribute;
    line.key(attribute.name);
    if (!is_canonical_json(attribute.value)) {
      line.problem(fmt::format("expected canonical JSON in {} \"{}\", got {}", key, attribute.name,
                               attribute.value.substr(0, 80)));
    }
    line.raw(attribute.value);
  }
  line.close('}');
}

void put_digests(Line& line, const std::vector<Digest>& digests) {
  if (digests.empty()) return;
  if (digests.size() > max_digests) line.problem("too many digests in one fingerprint");
  bool plain = true;
  std::set<DigestKind> kinds;
  for (const Digest& digest : digests) {
    if (digest.size != info(digest.kind).size) {
      line.problem(fmt::format("expected {} bytes of {}, got {}", info(digest.kind).size,
                               info(digest.kind).name, digest.size));
      return;
    }
    plain = plain && digest.scope == 0 && !digest.sampled && kinds.insert(digest.kind).second;
  }
  line.key("digests");
  line.open(plain ? '{' : '[');
  for (const Digest& digest : digests) {
    const std::string_view kind = info(digest.kind).name;
    if (plain) {
      line.member(kind, digest.hex());
      continue;
    }
    line.open('{');
    line.member("kind", kind);
    line.member("hex", digest.hex());
    if (digest.scope != 0) line.number("scope", digest.scope);
    if (digest.sampled) line.truth("sampled");
    line.close('}');
  }
  line.close(plain ? '}' : ']');
}

void put_value(Line& line, const Fingerprint& print) {
  if (print.printed_digits < 0 || print.printed_digits > max_printed_digits) {
    line.problem(fmt::format("expected 0 to {} printed digits, got {}", max_printed_digits,
                             print.printed_digits));
  }
  if (print.value) {
    line.key("value");
    const std::string canonical = canonical_number(*print.value);
    if (is_not_finite(*print.value)) {
      line.text(*print.value, "a value");
    } else if (!canonical.empty() &&
               (canonical[0] == '-' || (canonical[0] >= '0' && canonical[0] <= '9')) &&
               is_canonical_json(canonical)) {
      line.raw(canonical);
    } else {
      line.problem(fmt::format("expected a number, \"nan\", \"inf\" or \"-inf\" as value, got {}",
                               print.value->substr(0, 80)));
    }
  }
  if (print.printed_digits != 0) line.number("digits", print.printed_digits);
}

void put_flags(Line& line, const Fingerprint& print) {
  if (!print.view && !print.in_place && !print.uninitialised && !print.asynchronous) return;
  line.key("flags");
  line.open('[');
  if (print.view) line.raw("\"view\"");
  if (print.in_place) line.raw("\"in_place\"");
  if (print.uninitialised) line.raw("\"uninitialised\"");
  if (print.asynchronous) line.raw("\"asynchronous\"");
  line.close(']');
}

void put_fingerprint(Line& line, const Fingerprint& print) {
  line.open('{');
  line.member_if("tensor", print.tensor);
  std::string_view dtype = print.dtype;
  while (dtype.starts_with(dtype_prefix)) dtype.remove_prefix(dtype_prefix.size());
  line.member_if("dtype", dtype);
  if (print.has_shape) {
    if (print.shape.size() > max_dimensions) line.problem("too many dimensions in one shape");
    line.key("shape");
    line.open('[');
    for (const std::int64_t extent : print.shape) {
      if (extent < 0)
        line.problem(fmt::format("expected extents from 0 in a shape, got {}", extent));
      line.number(extent);
    }
    line.close(']');
  }
  put_digests(line, print.digests);
  if (!print.statistics.empty()) {
    if (print.statistics.size() > max_statistics)
      line.problem("too many statistics in one fingerprint");
    std::set<std::string_view> names;
    line.key("stats");
    line.open('{');
    for (const Statistic& statistic : print.statistics) {
      if (!names.insert(statistic.name).second) {
        line.problem(fmt::format("expected one statistic \"{}\", got two", statistic.name));
      }
      line.key(statistic.name);
      line.real(statistic.value);
    }
    line.close('}');
  }
  put_value(line, print);
  put_flags(line, print);
  line.close('}');
}

void put_fingerprints(Line& line, std::string_view key, const std::vector<Fingerprint>& prints) {
  line.key(key);
  line.open('[');
  for (const Fingerprint& print : prints) put_fingerprint(line, print);
  line.close(']');
}

void put_count(Line& line, std::string_view key, std::optional<std::int64_t> value) {
  if (!value) return;
  if (*value < 0)
    line.problem(fmt::format("expected an integer from 0 as {}, got {}", key, *value));
  line.number(key, *value);
}

void put_site(Line& line, const Site& site) {
  put_count(line, "iteration", site.iteration);
  put_count(line, "microbatch", site.microbatch);
  line.member_if("phase", site.phase);
  line.member_if("module", site.module);
  line.member_if("operation", site.operation);
  line.member_if("kernel", site.kernel);
  line.member_if("tensor", site.tensor);
  const std::string name = default_name(site);
  if (site.name != name) line.member_if("name", site.name);
  if (name.empty() && site.name.empty()) {
    line.problem("expected a record with a name, module, operation, kernel or tensor, got none");
  }
  if (site.occurrence != 0) line.number("occurrence", site.occurrence);
}

void check_form(Line& line, const Record& record) {
  const std::size_t outputs = record.outputs.size();
  if (record.inputs.size() + outputs > max_fingerprints) {
    line.problem(fmt::format("expected at most {} fingerprints in a record, got {}",
                             max_fingerprints, record.inputs.size() + outputs));
  }
  if (!record.inputs_recorded && !record.inputs.empty()) {
    line.problem("expected no inputs where inputs_recorded is false");
  }
  switch (record.kind) {
    case RecordKind::call:
      break;
    case RecordKind::scalar:
      if (outputs != 1 || !record.outputs[0].value) {
        line.problem("expected one output with a value in a scalar");
      }
      break;
    case RecordKind::boundary:
      if (outputs != 1)
        line.problem(fmt::format("expected one output in a boundary, got {}", outputs));
      break;
    case RecordKind::event:
      if (outputs != 0 || record.inputs_recorded) {
        line.problem("expected neither inputs nor outputs in an event");
      }
      break;
  }
}

}  // namespace

std::string default_name(const Site& site) {
  if (!site.tensor.empty()) {
    return site.module.empty() ? site.tensor : site.module + "." + site.tensor;
  }
  if (!site.operation.empty()) return site.operation;
  return site.module.empty() ? site.kernel : site.module;
}

Result<std::string> header_line(const TraceHeader& header) {
  Line line;
  line.open('{');
  line.number("detdiff_trace", version);
  if (!header.tool.empty() || !header.tool_version.empty()) {
    line.key("tool");
    line.open('{');
    line.member_if("name", header.tool);
    line.member_if("version", header.tool_version);
    line.close('}');
  }
  line.member_if("run_id", header.run_id);
  if (header.rank) line.number("rank", *header.rank);
  if (header.world_size) line.number("world_size", *header.world_size);
  if (header.rank && header.world_size && *header.rank >= *header.world_size) {
    line.problem(fmt::format("expected a rank below world_size {}, got {}", *header.world_size,
                             *header.rank));
  }
  if (!header.coordinates.empty()) {
    line.key("coordinates");
    line.open('{');
    for (const auto& [name, value] : header.coordinates) put_count(line, name, value);
    line.close('}');
  }
  if (!header.groups.empty()) {
    line.key("groups");
    line.open('{');
    for (const auto& [name, ranks] : header.groups) {
      line.key(name);
      line.open('[');
      for (const std::uint32_t rank : ranks) line.number(rank);
      line.close(']');
    }
    line.close('}');
  }
  if (!header.environment.empty()) {
    line.key("environment");
    line.open('{');
    for (const auto& [name, value] : header.environment) line.member(name, value);
    line.close('}');
  }
  if (!header.digests.empty()) {
    line.key("digests");
    line.open('[');
    for (const DigestKind kind : header.digests) line.text(info(kind).name, "a digest kind");
    line.close(']');
  }
  if (header.metrics_only) line.member("content", "metrics");
  line.member_if("started", header.started);
  line.close('}');
  return std::move(line).finish();
}

Result<std::string> record_line(const Record& record, const std::vector<Attribute>& notes,
                                bool numbered) {
  Line line;
  line.open('{');
  line.member("kind", to_string(record.kind));
  if (numbered) line.number("sequence", record.sequence);
  put_site(line, record.site);
  line.member_if("group", record.group);
  if (record.recompute) line.truth("recompute");
  if (record.inputs_recorded) put_fingerprints(line, "inputs", record.inputs);
  if (!record.outputs.empty()) put_fingerprints(line, "outputs", record.outputs);
  put_attributes(line, "attributes", record.attributes);
  put_attributes(line, "notes", notes);
  line.close('}');
  check_form(line, record);
  return std::move(line).finish();
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // "{}" writes "-0", which as an integer has no sign.
  return value == 0 && std::signbit(value) ? "-0.0" : canonical_number(fmt::format("{}", value));
}

std::string trailer_line(std::uint64_t records) {
  return fmt::format("{{\"end\":true,\"records\":{}}}\n", records);
}

}  // namespace detdiff::trace
