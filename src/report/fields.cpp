#include "report/fields.hpp"

#include <limits>

#include "report/escape.hpp"

namespace detdiff::report {
namespace {

const Json& null_value() {
  static const Json value = nullptr;
  return value;
}

const Json& empty_list() {
  static const Json value = Json::array();
  return value;
}

}  // namespace

const Json& field(const Json& object, std::string_view key) {
  if (!object.is_object()) return null_value();
  const auto found = object.find(std::string(key));
  return found == object.end() ? null_value() : *found;
}

const Json& element(const Json& array, std::size_t index) {
  return array.is_array() && index < array.size() ? array[index] : null_value();
}

std::string text_of(const Json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  return text == nullptr ? std::string() : escape(*text);
}

std::string text_of(const Json& object, std::string_view key) {
  return text_of(field(object, key));
}

bool is(const Json& object, std::string_view key, std::string_view text) {
  const auto* found = field(object, key).get_ptr<const std::string*>();
  return found != nullptr && *found == text;
}

std::optional<std::int64_t> integer_of(const Json& object, std::string_view key) {
  const Json& value = field(object, key);
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return std::nullopt;
}

std::uint64_t count_in(const Json& object, std::string_view key) {
  const Json& value = field(object, key);
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  const auto number = integer_of(object, key);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

bool flag_of(const Json& object, std::string_view key) {
  const auto* flag = field(object, key).get_ptr<const bool*>();
  return flag != nullptr && *flag;
}

std::string json_text(const Json& document) {
  std::string text = document.dump(2, ' ', true, Json::error_handler_t::replace);
  // CI systems read "##[" and "##vso[" as commands; # occurs inside strings only.
  for (std::size_t at = text.find("##"); at != std::string::npos; at = text.find("##", at)) {
    text.replace(at + 1, 1, "\\u0023");
    at += 7;
  }
  return text + "\n";
}

const Json& list_of(const Json& object, std::string_view key) {
  const Json& value = field(object, key);
  return value.is_array() ? value : empty_list();
}

}  // namespace detdiff::report
