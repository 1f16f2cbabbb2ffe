#include "detdiff/trace_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/file_descriptor.hpp"
#include "model/trace_text.hpp"

namespace detdiff {
namespace {

constexpr std::size_t k_block = std::size_t{64} << 10;

/// What a trace is written to.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;
  virtual Result<void> write(std::string_view bytes) = 0;
  /// Makes everything written so far readable.
  virtual Result<void> flush() = 0;
  virtual Result<void> close() = 0;
};

class SinkOutput final : public Output {
 public:
  explicit SinkOutput(TraceWriter::Sink sink) : m_sink(std::move(sink)) {}
  Result<void> write(std::string_view bytes) override { return m_sink(bytes); }
  Result<void> flush() override { return {}; }
  Result<void> close() override { return {}; }

 private:
  TraceWriter::Sink m_sink;
};

class FileOutput final : public Output {
 public:
  FileOutput(FileDescriptor fd, std::string path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

  Result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(m_fd.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return system_error(m_path, "cannot write", errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }
  Result<void> flush() override { return {}; }
  Result<void> close() override {
    const int problem = m_fd.close();
    if (problem != 0) return system_error(m_path, "cannot write", problem);
    return {};
  }

 private:
  FileDescriptor m_fd;
  std::string m_path;
};

/// Packs into one zstd frame.
class ZstdOutput final : public Output {
 public:
  ZstdOutput(std::unique_ptr<Output> to, std::string path, int level)
      : m_to(std::move(to)),
        m_path(std::move(path)),
        m_encoder(ZSTD_createCCtx()),
        m_packed(k_block, '\0') {
    if (m_encoder == nullptr) return;
    ZSTD_CCtx_setParameter(m_encoder, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(m_encoder, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdOutput() override { ZSTD_freeCCtx(m_encoder); }

  Result<void> write(std::string_view bytes) override { return pack(bytes, ZSTD_e_continue); }
  Result<void> flush() override { return pack({}, ZSTD_e_flush); }
  Result<void> close() override {
    auto packed = pack({}, ZSTD_e_end);
    return packed ? m_to->close() : packed;
  }

 private:
  Result<void> pack(std::string_view bytes, ZSTD_EndDirective how) {
    if (m_encoder == nullptr) return Error{Errc::io, m_path, "cannot pack: out of memory"};
    ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer to{m_packed.data(), m_packed.size(), 0};
      const std::size_t left = ZSTD_compressStream2(m_encoder, &to, &from, how);
      if (ZSTD_isError(left) != 0) {
        return Error{Errc::io, m_path, fmt::format("cannot pack: {}", ZSTD_getErrorName(left))};
      }
      if (auto written = m_to->write({m_packed.data(), to.pos}); !written) return written;
      if (how == ZSTD_e_continue ? from.pos == from.size : left == 0) return {};
    }
  }

  std::unique_ptr<Output> m_to;
  std::string m_path;
  ZSTD_CCtx* m_encoder;
  std::string m_packed;
};

Result<std::unique_ptr<Output>> open_output(const std::string& path, int zstd_level) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) {
    if (errno == EEXIST) {
      return Error{Errc::usage, path, "expected a new file, but it exists",
                   "a trace is never overwritten; remove it or choose another name"};
    }
    return system_error(path, "cannot create", errno);
  }
  std::unique_ptr<Output> output = std::make_unique<FileOutput>(std::move(fd), path);
  if (path.ends_with(".zst")) {
    output = std::make_unique<ZstdOutput>(std::move(output), path, zstd_level);
  }
  return output;
}

}  // namespace

struct TraceWriter::State {
  State(std::unique_ptr<Output> to, std::string what, const TraceHeader& header, const Options& how)
      : output(std::move(to)), name(std::move(what)), rank(header.rank), options(how) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (open && !failure) (void)flush();
    if (open) (void)output->close();
  }

  [[nodiscard]] Error usage(std::string message) const {
    return {Errc::usage, name, std::move(message)};
  }

  Result<void> fail(Error error) {
    if (error.where.empty()) error.where = name;
    failure = std::move(error);
    return *failure;
  }

  Result<void> hand_on() {
    if (buffer.empty()) return {};
    auto written = output->write(buffer);
    buffer.clear();
    return written ? written : fail(std::move(written).error());
  }

  Result<void> flush() {
    if (auto done = hand_on(); !done) return done;
    auto flushed = output->flush();
    return flushed ? flushed : fail(std::move(flushed).error());
  }

  Result<void> append(std::string_view line) {
    buffer += line;
    return buffer.size() >= k_block ? hand_on() : Result<void>{};
  }

  /// Why nothing can be written, if that is so.
  [[nodiscard]] std::optional<Error> refusal() const {
    if (failure) return failure;
    if (!open) return usage("the trace is finished");
    return std::nullopt;
  }

  std::unique_ptr<Output> output;
  std::string name;
  std::optional<std::uint32_t> rank;
  Options options;
  std::string buffer;
  std::uint64_t records = 0;
  std::optional<std::uint64_t> sequence;
  std::optional<std::int64_t> iteration;
  std::optional<Error> failure;
  bool open = true;
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : m_state(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const std::string& path, const TraceHeader& header,
                                        const Options& options) {
  auto line = trace::header_line(header);  // before the file is there
  if (!line) return Error{Errc::usage, path, std::move(line).error().message};
  auto output = open_output(path, options.zstd_level);
  if (!output) return std::move(output).error();
  auto state = std::make_unique<State>(std::move(*output), path, header, options);
  state->buffer = *std::move(line);
  if (auto done = state->flush(); !done) return std::move(done).error();
  return TraceWriter(std::move(state));
}

Result<TraceWriter> TraceWriter::create(const std::string& path, const TraceHeader& header) {
  return create(path, header, Options{});
}

Result<TraceWriter> TraceWriter::create(Sink sink, std::string name, const TraceHeader& header,
                                        const Options& options) {
  auto line = trace::header_line(header);
  if (!line) return Error{Errc::usage, name, std::move(line).error().message};
  auto state = std::make_unique<State>(std::make_unique<SinkOutput>(std::move(sink)),
                                       std::move(name), header, options);
  state->buffer = *std::move(line);
  if (auto done = state->flush(); !done) return std::move(done).error();
  return TraceWriter(std::move(state));
}

Result<TraceWriter> TraceWriter::create(Sink sink, std::string name, const TraceHeader& header) {
  return create(std::move(sink), std::move(name), header, Options{});
}

Result<void> TraceWriter::write(const Record& record, const std::vector<Attribute>& notes) {
  State& state = *m_state;
  if (auto refusal = state.refusal()) return *std::move(refusal);
  if (record.site.rank && record.site.rank != state.rank) {
    return state.usage(
        fmt::format("expected a record of the header's rank, got rank {}", *record.site.rank));
  }
  if (state.options.numbered && state.sequence && record.sequence <= *state.sequence) {
    return state.usage(
        fmt::format("expected a sequence above {}, got {}", *state.sequence, record.sequence));
  }
  auto line = trace::record_line(record, notes, state.options.numbered);
  if (!line) return state.usage(std::move(line).error().message);
  if (record.site.iteration && record.site.iteration != state.iteration) {
    if (state.iteration) {
      if (auto done = state.flush(); !done) return done;
    }
    state.iteration = record.site.iteration;
  }
  state.sequence = record.sequence;
  ++state.records;
  return state.append(*line);
}

Result<void> TraceWriter::event(const Site& site, std::vector<Attribute> attributes) {
  Record record;
  record.kind = RecordKind::event;
  record.site = site;
  record.attributes = std::move(attributes);
  std::sort(record.attributes.begin(), record.attributes.end(),
            [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
  record.sequence = m_state->sequence ? *m_state->sequence + 1 : 0;
  return write(record);
}

Result<void> TraceWriter::scalar(const Site& site, double value) {
  Record record;
  record.kind = RecordKind::scalar;
  record.site = site;
  record.outputs.emplace_back();
  record.outputs[0].value = trace::real_text(value);
  record.sequence = m_state->sequence ? *m_state->sequence + 1 : 0;
  return write(record);
}

Result<void> TraceWriter::flush() {
  if (auto refusal = m_state->refusal()) return *std::move(refusal);
  return m_state->flush();
}

Result<void> TraceWriter::finish() {
  State& state = *m_state;
  if (auto refusal = state.refusal()) return *std::move(refusal);
  if (auto done = state.append(trace::trailer_line(state.records)); !done) return done;
  if (auto done = state.hand_on(); !done) return done;
  state.open = false;
  auto closed = state.output->close();
  return closed ? closed : state.fail(std::move(closed).error());
}

std::uint64_t TraceWriter::records() const { return m_state->records; }

}  // namespace detdiff
