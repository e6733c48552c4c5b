#include "bench/mpi/rank_gpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/leave_behind.hpp"
#include "bench/mpi/copied_text.hpp"
#include "bench/mpi/rank_nccl.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// In a form that ranks can exchange.
struct Entry {
  std::array<char, 64> host{};
  std::array<char, 300> device{}, reason{}, library{};
};

}  // namespace

Gpus& RankGpuOwner::gpus() {
  if (!gpus_) gpus_ = std::make_unique<Gpus>(rank_on_host_);
  return *gpus_;
}

void RankGpuOwner::leave_behind() { collmark::leave_behind(std::move(gpus_)); }

const GpuMonitor& RankGpuOwner::monitor() {
  if (!monitor_) monitor_ = std::make_unique<GpuMonitor>();
  return *monitor_;
}

RankGpu own_gpu(RankGpuOwner& gpu, RankNccl* nccl) {
  std::array<char, 64> host{};  // HOST_NAME_MAX
  gethostname(host.data(), host.size() - 1);
  RankGpu mine{.host = host.data()};
  try {
    mine.device = describe(gpu.gpus()[0]);
    if (nccl != nullptr) mine.library = nccl->library().name();
  } catch (const Error& e) {
    mine.reason = e.what();
  }
  return mine;
}

std::vector<RankGpu> gpus_of_all(const Communicator& comm, const RankGpu& mine, Watchdog& dog) {
  Entry entry;
  copy_text(mine.host, entry.host);
  copy_text(mine.device, entry.device);
  copy_text(mine.reason, entry.reason);
  copy_text(mine.library, entry.library);
  const Watched watched(dog, "for the other ranks to find their GPUs");
  std::vector<Entry> all(comm.rank() == 0 ? static_cast<std::size_t>(comm.ranks()) : 0);
  check_mpi(MPI_Gather(&entry, sizeof entry, MPI_BYTE, all.data(), sizeof entry, MPI_BYTE, 0,
                       comm.handle()),
            "MPI_Gather");
  std::vector<RankGpu> gpus;
  for (const Entry& e : all)
    gpus.push_back({.rank = static_cast<int>(gpus.size()),
                    .host = e.host.data(),
                    .device = e.device.data(),
                    .reason = e.reason.data(),
                    .library = e.library.data()});
  return gpus;
}

}  // namespace collmark
