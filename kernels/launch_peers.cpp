/// What a collective with a process for each GPU does otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/catalogue.hpp"
#include "kernels/launch.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kAligned = 256;  // as cuMemAlloc does [bytes]

}  // namespace

GpuCollective::GpuCollective(Gpus& gpus, GpuPeers& peers, const KernelTask& task,
                             const GpuTuning& asked)
    : gpus_(gpus), peers_(&peers), task_(task), here_{.first = peers.rank(), .count = 1} {
  place_own_rank();
  tune(asked);
  allocate_own();
  peers.together([&] { lay_out(*parts_.front()); });
}

/// Kernels that wait for each other on one GPU must be one launch: those of two processes may run one after the other.
void GpuCollective::place_own_rank() {
  struct Identity {
    std::array<char, 64> uuid{};
  };
  Identity mine;
  const GpuFacts& facts = gpus_[0].facts();
  std::copy_n(facts.uuid.begin(), std::min(facts.uuid.size(), mine.uuid.size() - 1),
              mine.uuid.begin());
  const std::vector<Identity> all = peers_->all_of(mine);
  for (std::size_t b = 1; b < all.size(); ++b)
    for (std::size_t a = 0; a < b; ++a)
      if (all[a].uuid == all[b].uuid)
        throw Unsupported(fmt::format(
            "ranks {} and {} are processes on one GPU, {}: kernels of two processes that wait for "
            "each other need not run at once; start no more ranks than GPUs, or one process for "
            "all",
            a, b, all[a].uuid.data()));
  peers_->together([&] { add_part({.first = here_.first, .count = 1}, gpus_[0]); });
}

/// At any peer: what is decided by it is the same at all.
int GpuCollective::smallest(int mine) const {
  if (peers_ == nullptr) return mine;
  const std::vector<int> all = peers_->all_of(mine);
  return *std::min_element(all.begin(), all.end());
}

/// That every device of the collective holds at once.
int GpuCollective::resident_blocks() const {
  int most = gpus_[0].resident_blocks(symbol_, threads_);
  for (int d = 1; d < devices(); ++d)
    most = std::min(most, gpus_[d].resident_blocks(symbol_, threads_));
  return smallest(most);
}

/// All that peers reach is one piece, which is shared once.
void GpuCollective::allocate_own() {
  const bool in_place = task_.placement == Placement::in_place;
  const auto element = static_cast<std::int64_t>(size_of(task_.payload.dtype));
  const std::int64_t shift = misaligned_ * element, more = misaligned_ > 0 ? element : 0;
  const std::int64_t each =
      (task_.payload.count.value * element + shift + more + kAligned - 1) / kAligned * kAligned;
  const std::int64_t output = in_place ? shift : each + shift + more;
  const std::int64_t piece = in_place ? each : 2 * each;
  const Bytes piece_size{static_cast<std::int64_t>(job_->piece_size())};
  GpuStream& stream = this->stream(0);
  shared_ = std::make_unique<IpcMemory>(stream.gpu(), Bytes{piece} + piece_size, *peers_);
  for (int r = 0; r < task_.ranks; ++r) {
    reach_.inputs.push_back(shared_->of(r) + shift);
    reach_.outputs.push_back(shared_->of(r) + output);
    reach_.pieces.push_back(shared_->of(r) + piece);
  }
  stream.set(reach_.pieces[at(here_.first)], 0, piece_size);
}

}  // namespace collmark
