#include "bench/choice.hpp"

#include <algorithm>

namespace collmark {

std::size_t choose_index(std::string_view flag, std::string_view text,
                         const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw Error(ErrorKind::usage, fmt::format("{}: unknown value '{}'{}; there are: {}", flag, text,
                                            did_you_mean(text, names), fmt::join(names, ", ")));
}

std::vector<std::string> split_list(std::string_view flag, std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    if (comma == 0 || rest.empty())
      throw Error(ErrorKind::usage, fmt::format("{}: empty word in the list '{}'", flag, text));
    words.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace collmark
