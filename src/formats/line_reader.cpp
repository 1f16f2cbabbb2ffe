#include "formats/line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace detdiff::formats {
namespace {

constexpr std::size_t k_block = 128 * 1024;

}  // namespace

LineReader::LineReader(std::shared_ptr<ByteSource> source, std::size_t max_line)
    : m_source(std::move(source)), m_max_line(max_line) {}

Result<void> LineReader::open() {
  auto stream = m_source->open();
  if (!stream) return std::move(stream).error();
  m_stream = std::move(*stream);
  m_buffer.resize(k_block + k_block / 4 + padding);
  return {};
}

Result<bool> LineReader::fill() {
  if (!m_stream) {
    if (auto opened = open(); !opened) return std::move(opened).error();
  }
  m_scanned = std::max(m_scanned, m_begin);
  while (true) {
    if (std::memchr(m_buffer.data() + m_scanned, '\n', m_end - m_scanned) != nullptr) return true;
    m_scanned = m_end;
    if (m_eof) return false;
    if (m_end - m_begin > m_max_line) {
      return Error{Errc::limit, fmt::format("{}:{}", name(), m_number + 1),
                   fmt::format("the line that begins at byte {} is longer than {} bytes",
                               m_base + m_begin, m_max_line),
                   "raise --max-line if the log is meant to be so"};
    }
    if (m_begin != 0) {
      std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
      m_base += m_begin;
      m_end -= m_begin;
      m_scanned -= m_begin;
      m_begin = 0;
    }
    if (m_buffer.size() - m_end < k_block + padding) {
      m_buffer.resize(std::max(m_buffer.size() * 2, m_end + k_block + padding));
    }
    auto count = m_stream->read({m_buffer.data() + m_end, k_block});
    if (!count) return std::move(count).error();
    if (*count == 0) m_eof = true;
    m_end += *count;
  }
}

Result<bool> LineReader::next() {
  auto filled = fill();
  if (!filled) return std::move(filled).error();
  const char* begin = m_buffer.data() + m_begin;
  std::size_t size = m_end - m_begin;
  if (!*filled && size == 0) return false;
  m_terminated = *filled;
  if (m_terminated) {
    const void* newline = std::memchr(m_buffer.data() + m_scanned, '\n', m_end - m_scanned);
    size = static_cast<std::size_t>(static_cast<const char*>(newline) - begin);
  }
  if (size > m_max_line) {
    return Error{Errc::limit, fmt::format("{}:{}", name(), m_number + 1),
                 fmt::format("the line has {} bytes, over the limit of {}", size, m_max_line),
                 "raise --max-line if the log is meant to be so"};
  }
  m_line = {begin, size};
  m_byte = m_base + m_begin;
  ++m_number;
  m_begin += size + (m_terminated ? 1 : 0);
  m_scanned = m_begin;
  return true;
}

void LineReader::skip(std::size_t bytes, std::uint64_t lines, std::size_t last_line) {
  m_line = {m_buffer.data() + m_begin + last_line, bytes - last_line - 1};
  m_byte = m_base + m_begin + last_line;
  m_terminated = true;
  m_number += lines;
  m_begin += bytes;
  m_scanned = m_begin;
}

Result<void> LineReader::seek(std::uint64_t line_number, std::uint64_t byte) {
  if (!m_stream) {
    if (auto opened = open(); !opened) return opened;
  }
  if (auto moved = m_stream->seek(byte); !moved) return moved;
  m_begin = m_scanned = m_end = 0;
  m_base = byte;
  m_eof = false;
  m_number = line_number == 0 ? 0 : line_number - 1;
  return {};
}

}  // namespace detdiff::formats
