#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "formats/detdiff_trace.hpp"
#include "formats/jsonl_run.hpp"

namespace detdiff::formats {
namespace {

constexpr std::size_t k_padding = 64;

struct FirstLine {
  std::string_view text;
  std::size_t number = 1;
  bool whole = false;  ///< its end is in the bytes at hand
};

FirstLine first_line(std::string_view head) {
  FirstLine first;
  while (true) {
    const std::size_t end = head.find('\n');
    first.text = head.substr(0, end);
    first.whole = end != std::string_view::npos;
    if (!first.whole || first.text.find_first_not_of(" \t\r") != std::string_view::npos) break;
    head.remove_prefix(end + 1);
    ++first.number;
  }
  if (first.text.ends_with('\r')) first.text.remove_suffix(1);
  return first;
}

std::string padded(std::string_view line) {
  std::string copy(line);
  copy.append(k_padding, ' ');
  return copy;
}

struct Header {
  TraceHeader content;
  std::size_t file = 0;  ///< index of the InputFile
};

Result<TraceHeader> read_header(const InputFile& file, const ByteLimits& limits) {
  std::string head = file.head;
  FirstLine first = first_line(head);
  if (!first.whole) {
    auto more = file.source->head(limits.max_line);
    if (!more) return std::move(more).error();
    head = *std::move(more);
    first = first_line(head);
  }
  const std::string where = fmt::format("{}:{}", file.source->name(), first.number);
  const std::string text = padded(first.text);
  JsonLine line;
  auto parsed = line.parse(std::string_view(text).substr(0, first.text.size()));
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.where = where;
    if (error.code == Errc::damaged) error.hint = "the header is the first line of a trace";
    return error;
  }
  auto header = parse_trace_header(line);
  if (!header) {
    Error error = std::move(header).error();
    error.where = where;
    return error;
  }
  return header;
}

Result<std::vector<Header>> read_headers(const std::vector<InputFile>& files,
                                         const ByteLimits& limits) {
  std::vector<Header> headers;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto header = read_header(files[i], limits);
    if (!header) return std::move(header).error();
    if (!header->rank && files.size() > 1) {
      return Error{Errc::damaged, files[i].source->name(),
                   "expected a \"rank\" in the header, as there are several files, got none",
                   "name one of the files, or let the header of each say its rank"};
    }
    headers.push_back({*std::move(header), i});
  }
  std::stable_sort(headers.begin(), headers.end(), [](const Header& a, const Header& b) {
    return a.content.rank < b.content.rank;
  });
  return headers;
}

/// Finds contradictions between the headers of a folder, sorted by rank.
Result<void> check_headers(const std::vector<Header>& headers,
                           const std::vector<InputFile>& files) {
  const Header* with_id = nullptr;
  const Header* with_size = nullptr;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const Header& header = headers[i];
    const std::string& name = files[header.file].source->name();
    const auto other = [&files](const Header& that) { return files[that.file].source->name(); };
    if (i > 0 && headers[i - 1].content.rank == header.content.rank) {
      return Error{Errc::damaged, name,
                   fmt::format("expected one file for rank {}, but {} is one too",
                               *header.content.rank, other(headers[i - 1])),
                   "compare one run at a time: keep each run's logs in a folder of its own"};
    }
    if (!header.content.run_id.empty()) {
      if (with_id != nullptr && with_id->content.run_id != header.content.run_id) {
        return Error{Errc::damaged, name,
                     fmt::format("two runs in one folder: run_id {}, but {} has {}",
                                 header.content.run_id.substr(0, 80), other(*with_id),
                                 with_id->content.run_id.substr(0, 80)),
                     "keep each run's logs in a folder of its own"};
      }
      with_id = &header;
    }
    if (header.content.world_size) {
      if (with_size != nullptr && with_size->content.world_size != header.content.world_size) {
        return Error{
            Errc::damaged, name,
            fmt::format("expected world_size {} as in {}, got {}", *with_size->content.world_size,
                        other(*with_size), *header.content.world_size),
            "keep each run's logs in a folder of its own"};
      }
      with_size = &header;
    }
    if (header.content.metrics_only != headers[0].content.metrics_only) {
      return Error{Errc::damaged, name,
                   fmt::format("expected the same content as in {}, got {}", other(headers[0]),
                               header.content.metrics_only ? "metrics" : "tensors"),
                   "keep metrics and tensors in folders of their own"};
    }
  }
  return {};
}

/// The variables that no two headers give different values.
void merge_environment(const std::vector<Header>& headers, RunInfo& info) {
  std::set<std::string> differing;
  for (const Header& header : headers) {
    for (const auto& [name, value] : header.content.environment) {
      const auto [place, fresh] = info.environment.emplace(name, value);
      if (!fresh && place->second != value) differing.insert(name);
    }
  }
  if (differing.empty()) return;
  std::string names;
  std::size_t listed = 0;
  for (const std::string& name : differing) {
    info.environment.erase(name);
    if (++listed <= 5) names += (listed == 1 ? "" : ", ") + name.substr(0, 80);
  }
  if (listed > 5) names += fmt::format(" and {} more", listed - 5);
  info.notices.push_back({"environment_differs",
                          fmt::format("{}: the ranks differ in environment variables, which are "
                                      "left out: {}",
                                      info.path, names)});
}

}  // namespace

Sniff sniff_detdiff_trace(const InputFile& file) {
  constexpr std::string_view key = "\"detdiff_trace\"";
  const FirstLine first = first_line(file.head);
  std::string_view text = first.text;
  const auto skip_space = [&text] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  };
  skip_space();
  if (!text.starts_with('{')) return Sniff::no;
  text.remove_prefix(1);
  skip_space();
  if (text.starts_with(key)) return Sniff::yes;
  if (!first.whole || text.find(key) == std::string_view::npos) return Sniff::no;
  // A producer that sorts keys writes others first.
  const std::string line = padded(first.text);
  JsonLine parsed;
  if (!parsed.parse(std::string_view(line).substr(0, first.text.size()))) return Sniff::no;
  const auto& nodes = parsed.nodes();
  for (std::uint32_t i = 1; i != nodes[0].next; i = nodes[i].next) {
    if (nodes[i].key == "detdiff_trace") return Sniff::yes;
  }
  return Sniff::no;
}

Result<std::unique_ptr<Run>> open_detdiff_trace(const std::string& path, bool /*folder*/,
                                                std::vector<InputFile> files,
                                                const OpenOptions& options) {
  auto headers = read_headers(files, options.limits);
  if (!headers) return std::move(headers).error();
  if (auto done = check_headers(*headers, files); !done) return std::move(done).error();
  RunInfo info;
  info.path = path;
  info.format = "detdiff-trace";
  info.title = "detdiff trace, version 1";
  info.metrics_only = headers->front().content.metrics_only;
  std::vector<std::shared_ptr<ByteSource>> sources;
  for (const Header& header : *headers) {
    const TraceHeader& content = header.content;
    if (info.run_id.empty()) info.run_id = content.run_id;
    if (!info.world_size) info.world_size = content.world_size;
    const std::shared_ptr<ByteSource>& source = files[header.file].source;
    const FileIdentity& identity = source->identity();
    info.ranks.push_back({content.rank, source->name(), identity.size, identity.device,
                          identity.inode, content.coordinates});
    sources.push_back(source);
  }
  merge_environment(*headers, info);
  return std::unique_ptr<Run>(std::make_unique<JsonlRun>(
      std::move(info), std::move(sources), options.limits.max_line, make_detdiff_trace_parser));
}

}  // namespace detdiff::formats
