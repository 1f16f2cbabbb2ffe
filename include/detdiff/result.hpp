#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace detdiff {

/// What kind of failure an Error is; callers branch on this, users read the text.
enum class Errc {
  usage,        ///< the caller asked for something that cannot be done
  io,           ///< the operating system refused or failed
  damaged,      ///< the input breaks the rules of its format
  unsupported,  ///< a valid input this version cannot read (newer schema, unknown digest)
  limit,        ///< a stated limit was exceeded
  interrupted,  ///< SIGINT or SIGTERM arrived
};

/// A failure the user can act on.
///
/// `where` names the input and the position in it ("b.jsonl:4812", "b.jsonl.zst"); `message` says
/// what was expected and what was found, in lower case, without a full stop; `hint` is one thing to
/// try, or empty. All three may hold text of the input: they are escaped where they are printed.
struct Error {
  Errc code = Errc::io;
  std::string where;
  std::string message;
  std::string hint = {};
};

/// Either a value or an Error. Nothing in detdiff throws for bad input.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return m_state.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return std::get<0>(m_state); }
  const T& operator*() const& { return std::get<0>(m_state); }
  T&& operator*() && { return std::get<0>(std::move(m_state)); }
  T* operator->() { return &std::get<0>(m_state); }
  const T* operator->() const { return &std::get<0>(m_state); }

  Error& error() & { return std::get<1>(m_state); }
  const Error& error() const& { return std::get<1>(m_state); }
  Error&& error() && { return std::get<1>(std::move(m_state)); }

 private:
  std::variant<T, Error> m_state;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : m_error(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !m_error; }
  explicit operator bool() const { return ok(); }

  Error& error() & { return *m_error; }
  const Error& error() const& { return *m_error; }
  Error&& error() && { return *std::move(m_error); }

 private:
  std::optional<Error> m_error;
};

}  // namespace detdiff
