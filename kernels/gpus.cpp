/// All GPUs that the driver shows, and whether they reach each other.
#include <algorithm>
#include <optional>

#include "collectives/error.hpp"
#include "kernels/gpu.hpp"

namespace collmark {

Gpus::Gpus() {
  std::optional<Error> first;
  for (int i = 0; i < driver_.devices(); ++i) {
    try {
      all_.push_back(std::make_unique<Gpu>(driver_, i));
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::broken) throw;
      left_out_.emplace_back(e.what());
      if (!first) first = e;
    }
  }
  if (all_.empty()) throw Error(ErrorKind::absent, first->what());
}

Gpus::Gpus(int which) { all_.push_back(std::make_unique<Gpu>(driver_, which % driver_.devices())); }

Bytes Gpus::free_memory(int count) const {
  Bytes least = (*this)[0].free_memory();
  for (int d = 1; d < count; ++d) least = std::min(least, (*this)[d].free_memory());
  return least;
}

std::string Gpus::connect(int count) {
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b)
      if (std::string obstacle = connect(a, b); !obstacle.empty()) return obstacle;
  return "";
}

std::string Gpus::connect(int a, int b) {
  std::string obstacle = reach(a, b);
  return obstacle.empty() ? reach(b, a) : obstacle;
}

/// Lets the kernels of `from` use the memory of `to`.
std::string Gpus::reach(int from, int to) {
  const Gpu& gpu = (*this)[from];
  const Gpu& peer = (*this)[to];
  const std::string names = "GPU " + std::to_string(gpu.facts().ordinal) +
                            " cannot reach the memory of GPU " +
                            std::to_string(peer.facts().ordinal);
  int can = 0;
  gpu.check(driver_->device_can_access_peer(&can, gpu.facts().ordinal, peer.facts().ordinal),
            "asking about peers");
  if (can == 0)
    return names + " (" + gpu.facts().pci + ", " + peer.facts().pci +
           "): see nvidia-smi topo -p2p rw";
  gpu.use();
  const cu::Status status = driver_->context_enable_peer_access(peer.context(), 0);
  if (status == cu::Status::too_many_peers || status == cu::Status::peer_access_unsupported)
    return names + ": the driver lets it reach no more peers";
  if (status != cu::Status::peer_access_already_enabled)
    gpu.check(status, "reaching the memory of GPU " + std::to_string(peer.facts().ordinal));
  return "";
}

}  // namespace collmark
