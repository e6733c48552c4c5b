#include "kernels/ipc_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

// The driver may cut small allocations from one block, and a handle opens the whole block.
//   Source  CUDA C++ Programming Guide, "Interprocess Communication": share sizes that are multiples of 2 MiB.
constexpr std::int64_t kBlock = 2 << 20;  // [bytes]

/// What a rank tells the others of its piece.
struct Exported {
  cu::IpcHandle handle{};
  std::size_t offset = 0;  // of the piece in what the handle opens
  int ordinal = 0;
  std::array<char, 32> pci{};
};

Exported exported(const Gpu& gpu, const GpuMemory& memory) {
  const auto pointer = reinterpret_cast<cu::Pointer>(memory.data());
  cu::Pointer base = 0;
  std::size_t size = 0;
  Exported mine;
  gpu.use();
  gpu.check(gpu.driver()->mem_get_address_range(&base, &size, pointer), "finding an allocation");
  const cu::Status status = gpu.driver()->ipc_get(&mine.handle, base);
  if (status != cu::Status::success)
    throw Unsupported(fmt::format("GPU {} ({}) cannot share memory with other processes: {}",
                                  gpu.facts().ordinal, gpu.facts().pci,
                                  gpu.driver().words(status)));
  mine.offset = pointer - base;
  mine.ordinal = gpu.facts().ordinal;
  const std::string& pci = gpu.facts().pci;
  std::copy_n(pci.begin(), std::min(pci.size(), mine.pci.size() - 1), mine.pci.begin());
  return mine;
}

}  // namespace

IpcMemory::IpcMemory(const Gpu& gpu, Bytes size, GpuPeers& peers) : gpu_(gpu), peers_(peers) {
  peers.together([&] {
    mine_ = GpuMemory(gpu, {std::max(size.value + kBlock - 1, kBlock) / kBlock * kBlock});
  });
  try {
    open_all();
  } catch (const Unsupported&) {
    close_all();
    throw;
  }
}

void IpcMemory::open_all() {
  Exported mine;
  peers_.together([&] { mine = exported(gpu_, mine_); });
  const std::vector<Exported> all = peers_.all_of(mine);
  of_.assign(all.size(), nullptr);
  peers_.together([&] {
    for (int rank = 0; rank < peers_.ranks(); ++rank) {
      const Exported& theirs = all[static_cast<std::size_t>(rank)];
      std::byte*& place = of_[static_cast<std::size_t>(rank)];
      if (rank == peers_.rank()) {
        place = mine_.data();
        continue;
      }
      cu::Pointer base = 0;
      gpu_.use();
      const cu::Status status = gpu_.driver()->ipc_open(&base, theirs.handle, cu::kIpcReachPeer);
      if (status != cu::Status::success)
        throw Unsupported(
            fmt::format("rank {} on GPU {} ({}) cannot open the memory of rank {} on "
                        "GPU {} ({}): {}; see nvidia-smi topo -p2p rw",
                        peers_.rank(), gpu_.facts().ordinal, gpu_.facts().pci, rank, theirs.ordinal,
                        theirs.pci.data(), gpu_.driver().words(status)));
      opened_.push_back(base);
      place =
          reinterpret_cast<std::byte*>(base + theirs.offset);  // NOLINT(performance-no-int-to-ptr)
    }
  });
}

void IpcMemory::close_all() {
  (void)gpu_.driver()->context_set_current(gpu_.context());
  for (const cu::Pointer pointer : opened_) (void)gpu_.driver()->ipc_close(pointer);
  opened_.clear();
  if (peers_.in_step()) peers_.barrier();
}

IpcMemory::~IpcMemory() { close_all(); }

}  // namespace collmark
