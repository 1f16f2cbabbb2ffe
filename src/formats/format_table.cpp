#include "formats/format_table.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "formats/detdiff_trace.hpp"
#include "formats/golden_metrics.hpp"
#include "formats/input_tree.hpp"
#include "formats/megatron_trace.hpp"

namespace detdiff::formats {
namespace {

constexpr std::size_t k_head_bytes = std::size_t{64} << 10;

constexpr std::array k_formats{
    Format{"detdiff-trace", "detdiff trace, version 1", "a header line with \"detdiff_trace\"",
           "whatever digests it carries", sniff_detdiff_trace, open_detdiff_trace},
    Format{"megatron-trace", "Megatron-LM determinism trace (PR 6610)",
           "lines with \"schema_version\", \"event\", \"sequence\" and \"occurrence\"",
           "sha256 (full), samples, statistics or metadata, by mode", sniff_megatron_trace,
           open_megatron_trace},
    Format{"golden-metrics", "Megatron-LM golden values (metrics per step)",
           "an object of metrics with \"start_step\" and \"values\"",
           "printed digits (rounded), or exact with \"value_precision\": \"full\"",
           sniff_golden_metrics, open_golden_metrics},
};

Error no_format(const std::string& where, std::string message) {
  return {Errc::unsupported, where, std::move(message),
          "detdiff help formats lists what is read and how it is recognised"};
}

const Format* best_format(const InputFile& file) {
  const Format* maybe = nullptr;
  for (const Format& format : k_formats) {
    const Sniff sniff = format.sniff(file);
    if (sniff == Sniff::yes) return &format;
    if (sniff == Sniff::maybe && maybe == nullptr) maybe = &format;
  }
  return maybe;
}

Result<InputFile> open_file(const std::string& path, std::string relative, const OpenOptions& options) {
  auto source = open_source(path, options.limits);
  if (!source) return std::move(source).error();
  auto head = (*source)->head(k_head_bytes);
  if (!head) return std::move(head).error();
  return InputFile{std::move(*source), std::move(relative), std::move(*head)};
}

Result<std::unique_ptr<Run>> open_one(const std::string& path, const OpenOptions& options) {
  auto file = open_file(path, path.substr(path.find_last_of('/') + 1), options);
  if (!file) return std::move(file).error();
  if (file->head.empty()) {
    return Error{Errc::damaged, file->source->name(), "the file is empty",
                 "an empty log proves nothing; did the run write anything?"};
  }
  const Format* format = best_format(*file);
  if (format == nullptr) {
    return no_format(file->source->name(), "expected a log in a format that detdiff knows, got none");
  }
  std::vector<InputFile> files;
  files.push_back(std::move(*file));
  return format->open(path, false, std::move(files), options);
}

struct Sorted {
  std::map<const Format*, std::vector<InputFile>> by_format;
  std::vector<std::string> unknown;
  std::vector<std::string> empty;
};

Result<Sorted> sort_files(const InputTree& tree, const OpenOptions& options) {
  Sorted sorted;
  for (const FoundFile& found : tree.files) {
    auto file = open_file(found.path, found.relative, options);
    if (!file) return std::move(file).error();
    if (file->head.empty()) {
      sorted.empty.push_back(found.path);
    } else if (const Format* format = best_format(*file)) {
      // Ten thousand ranks are open at once: no more than the first line is kept of each.
      file->head = file->head.substr(0, file->head.find('\n'));
      sorted.by_format[format].push_back(std::move(*file));
    } else {
      sorted.unknown.push_back(found.relative);
    }
  }
  return sorted;
}

std::string list_some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 5; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > 5) text += fmt::format(" and {} more", names.size() - 5);
  return text;
}

Result<std::unique_ptr<Run>> open_folder(const std::string& path, const InputTree& tree,
                                         const OpenOptions& options) {
  auto sorted = sort_files(tree, options);
  if (!sorted) return std::move(sorted).error();
  if (sorted->by_format.empty()) {
    if (!sorted->empty.empty()) {
      return Error{Errc::damaged, sorted->empty.front(), "the file is empty",
                   "an empty log proves nothing; did the run write anything?"};
    }
    return no_format(path, fmt::format("expected logs in the folder, found none in {} files",
                                       tree.files.size()));
  }
  if (sorted->by_format.size() > 1) {
    const auto& [one, one_files] = *sorted->by_format.begin();
    const auto& [two, two_files] = *sorted->by_format.rbegin();
    return Error{Errc::damaged, path,
                 fmt::format("expected logs of one format, got {} ({}) and {} ({})", one->name,
                             one_files.front().relative, two->name, two_files.front().relative),
                 "name one of the files, or keep each kind of log in a folder of its own"};
  }
  if (!sorted->empty.empty()) {
    return Error{Errc::damaged, sorted->empty.front(), "the file is empty, the others are not",
                 "a rank that wrote nothing crashed early; remove its file to compare the others"};
  }
  auto& [format, files] = *sorted->by_format.begin();
  auto run = format->open(path, true, std::move(files), options);
  if (!run) return run;
  std::vector<Notice> notices;
  if (!sorted->unknown.empty()) {
    notices.push_back({"unknown_file", fmt::format("{}: left out, no log: {}", path,
                                                   list_some(sorted->unknown))});
  }
  for (const auto& [name, reason] : tree.skipped) {
    notices.push_back({"file_left_out", fmt::format("{}: left out: {}", name, reason)});
  }
  (*run)->add_notices(notices);
  return run;
}

}  // namespace

std::span<const Format> formats() { return k_formats; }

Result<std::unique_ptr<Run>> open_run(const std::string& path, const OpenOptions& options) {
  if (path == "-") return open_one(path, options);
  auto tree = list_input(path);
  if (!tree) return std::move(tree).error();
  if (!tree->folder) return open_one(path, options);
  if (tree->files.empty()) return no_format(path, "expected logs in the folder, but it is empty");
  return open_folder(path, *tree, options);
}

}  // namespace detdiff::formats
