#include "bench/first_sentence.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace collmark {
namespace {

constexpr std::size_t kWrapped = 55;  // characters of a line that may go on in the next

bool has_words(const std::string& line) {
  return std::any_of(line.begin(), line.end(),
                     [](unsigned char c) { return std::isalpha(c) != 0; });
}

std::string trimmed(const std::string& line) {
  constexpr const char* kBlanks = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlanks);
  return first == std::string::npos
             ? ""
             : line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

bool goes_on(const std::string& line, const std::string& next) {
  if (line.ends_with('.') || line.ends_with(':') || !has_words(next)) return false;
  return line.size() >= kWrapped || std::islower(static_cast<unsigned char>(next.front())) != 0;
}

}  // namespace

std::string first_sentence(const std::string& text) {
  std::istringstream lines(text);
  std::string sentence, last;
  for (std::string line; std::getline(lines, line); last = line) {
    line = trimmed(line);
    if (sentence.empty() && !has_words(line)) continue;
    if (!sentence.empty() && !goes_on(last, line)) break;
    sentence += (sentence.empty() ? "" : " ") + line;
  }
  if (const std::size_t stop = sentence.find(". "); stop != std::string::npos)
    sentence.resize(stop + 1);
  if (sentence.ends_with(':')) sentence.pop_back();
  return sentence;
}

}  // namespace collmark
