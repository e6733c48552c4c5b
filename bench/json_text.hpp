/// JSON as this program writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace collmark {

/// Indented, ends in a newline. Paths and variables of the environment may hold any bytes, JSON only
/// UTF-8: others become U+FFFD.
template <class Json>
[[nodiscard]] std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace collmark
