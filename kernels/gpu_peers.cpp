#include "kernels/gpu_peers.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

/// Why a rank cannot go on, in a form that all can exchange; no words: it can.
struct Obstacle {
  std::array<char, 500> words{};

  void say(std::string_view why) {
    std::copy_n(why.begin(), std::min(why.size(), words.size() - 1), words.begin());
  }
  [[nodiscard]] bool is_none() const { return words.front() == '\0'; }
};

}  // namespace

void GpuPeers::together(const std::function<void()>& step) {
  Obstacle mine;
  try {
    step();
  } catch (const Unsupported& e) {
    mine.say(e.what());
  } catch (const std::bad_alloc&) {
    mine.say("out of memory");
  } catch (...) {
    in_step_ = false;
    throw;
  }
  const std::vector<Obstacle> all = all_of(mine);
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Obstacle& o) { return !o.is_none(); });
  if (first != all.end()) throw Unsupported(first->words.data());
}

}  // namespace collmark
