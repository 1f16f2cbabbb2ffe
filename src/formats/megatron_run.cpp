#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "formats/json_fields.hpp"
#include "formats/jsonl_run.hpp"
#include "formats/megatron_trace.hpp"

namespace detdiff::formats {
namespace {

// "rank_000003.jsonl", ".jsonl.zst", ".jsonl.gz" -> 3.
std::optional<std::uint32_t> rank_in_name(std::string_view relative) {
  std::string_view name = relative.substr(relative.find_last_of('/') + 1);
  for (const std::string_view packed : {".zst", ".gz"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  if (!name.starts_with("rank_") || !name.ends_with(".jsonl")) return std::nullopt;
  name = name.substr(5, name.size() - 11);
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (name.empty() || error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return rank;
}

std::string_view first_line(std::string_view head) {
  while (!head.empty() && (head.front() == '\n' || head.front() == '\r')) head.remove_prefix(1);
  return head.substr(0, head.find('\n'));
}

// The rank that the first record names; parsing the record itself is left to the stream.
std::optional<std::uint32_t> rank_in_content(const InputFile& file) {
  std::string line(first_line(file.head));
  const std::size_t size = line.size();
  line.resize(size + 64);
  JsonLine parser;
  if (!parser.parse(std::string_view(line).substr(0, size))) return std::nullopt;
  const auto& nodes = parser.nodes();
  for (std::uint32_t i = 1; i < nodes.size(); i = nodes[i].next) {
    if (nodes[i].key != "rank") continue;
    const auto rank = unsigned_of(nodes[i]);
    if (rank && *rank <= UINT32_MAX) return static_cast<std::uint32_t>(*rank);
  }
  return std::nullopt;
}

Error file_error(const InputFile& file, std::string message, std::string hint) {
  return {Errc::damaged, file.source->name(), std::move(message), std::move(hint)};
}

}  // namespace

Sniff sniff_megatron_trace(const InputFile& file) {
  const std::string_view line = first_line(file.head);
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || line[start] != '{') {
    // A rank file whose first line is damaged is still one: the reader says where.
    return rank_in_name(file.relative) && !line.empty() ? Sniff::maybe : Sniff::no;
  }
  for (const std::string_view key : {"\"schema_version\"", "\"event\"", "\"sequence\"", "\"occurrence\""}) {
    if (line.find(key) == std::string_view::npos) {
      return rank_in_name(file.relative) ? Sniff::maybe : Sniff::no;
    }
  }
  return Sniff::yes;
}

Result<std::unique_ptr<Run>> open_megatron_trace(const std::string& path, bool folder,
                                                 std::vector<InputFile> files,
                                                 const OpenOptions& options) {
  std::map<std::uint32_t, const InputFile*> by_rank;
  const InputFile* unnumbered = nullptr;
  for (const InputFile& file : files) {
    auto rank = rank_in_name(file.relative);
    if (folder && !rank) {
      return file_error(file, "expected the name of a rank's file, rank_000000.jsonl",
                        "move files that are no rank's log out of the folder");
    }
    // A single file may have any name, also one that names another rank.
    const auto content = rank_in_content(file);
    if (!folder && content) rank = content;
    if (!rank) {
      unnumbered = &file;
      continue;
    }
    const auto [place, fresh] = by_rank.emplace(*rank, &file);
    if (!fresh) {
      return file_error(file, fmt::format("expected one file for rank {}, but {} is one too", *rank,
                                          place->second->source->name()),
                        "compare one run at a time: keep each run's logs in a folder of its own");
    }
  }
  RunInfo info;
  info.path = path;
  info.format = "megatron-trace";
  info.title = "Megatron-LM determinism trace (PR 6610)";
  std::vector<std::shared_ptr<ByteSource>> sources;
  const auto add = [&](std::optional<std::uint32_t> rank, const InputFile& file) {
    const FileIdentity& identity = file.source->identity();
    info.ranks.push_back({rank, file.source->name(), identity.size, identity.device, identity.inode, {}});
    sources.push_back(file.source);
  };
  for (const auto& [rank, file] : by_rank) add(rank, *file);
  if (unnumbered != nullptr) add(std::nullopt, *unnumbered);
  return std::unique_ptr<Run>(std::make_unique<JsonlRun>(
      std::move(info), std::move(sources), options.limits.max_line, make_megatron_trace_parser));
}

}  // namespace detdiff::formats
