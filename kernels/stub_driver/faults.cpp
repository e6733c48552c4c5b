#include "kernels/stub_driver/faults.hpp"

#include <cstdlib>
#include <sstream>

namespace collmark::stub {
namespace {

std::string text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

Faults::Faults(const char* variable) {
  std::istringstream words(text_of(variable));
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t at = word.find('@');
    counts_[word.substr(0, at)].when =
        at == std::string::npos ? 0 : std::atoi(word.c_str() + at + 1);
  }
}

bool Faults::happens(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(fault);
  if (found == counts_.end()) return false;
  Count& count = found->second;
  return ++count.asked == count.when || count.when == 0;
}

int devices_from_environment() {
  const std::string text = text_of("COLLMARK_STUB_DEVICES");
  return text.empty() ? 1 : std::atoi(text.c_str());
}

}  // namespace collmark::stub
