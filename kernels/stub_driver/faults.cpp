#include "kernels/stub_driver/faults.hpp"

#include <cstdlib>
#include <numeric>
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

DeviceShape shape_from_environment() {
  DeviceShape shape;
  std::istringstream words(text_of("COLLMARK_STUB_SHAPE"));
  char by = 0;
  shape.counts_threads = (words >> shape.multiprocessors >> by >> shape.whole_blocks) && by == 'x';
  return shape.counts_threads ? shape : DeviceShape{};
}

std::chrono::nanoseconds step_from_environment() {
  return std::chrono::nanoseconds(std::atoll(text_of("COLLMARK_STUB_STEP_NS").c_str()));
}

std::vector<int> devices_from_environment() {
  const std::string count = text_of("COLLMARK_STUB_DEVICES");
  const int there = count.empty() ? 1 : std::atoi(count.c_str());
  std::vector<int> visible;
  std::istringstream words(text_of("COLLMARK_STUB_VISIBLE"));
  for (std::string word; std::getline(words, word, ',');)
    if (const int number = std::atoi(word.c_str()); number < there) visible.push_back(number);
  if (!visible.empty()) return visible;
  visible.resize(static_cast<std::size_t>(there));
  std::iota(visible.begin(), visible.end(), 0);
  return visible;
}

}  // namespace collmark::stub
