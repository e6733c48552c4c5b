#include "bench/device_work.hpp"

#include <thread>

namespace collmark {

bool comes_to_an_end(const DeviceWork& work, std::chrono::milliseconds longest) {
  const auto begin = std::chrono::steady_clock::now();
  while (!work.idle()) {
    if (std::chrono::steady_clock::now() - begin >= longest) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace collmark
