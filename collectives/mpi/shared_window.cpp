#include "collectives/mpi/shared_window.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include <array>
#include <limits>
#include <memory>

#include "collectives/catalogue.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

void require_one_host(const Communicator& comm) {
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  int near = 0;
  MPI_Comm_size(host, &near);
  MPI_Comm_free(&host);
  if (near != comm.ranks())
    throw Unsupported(fmt::format(
        "a shared-memory window needs all {} ranks on one host, {} are on that of rank {}",
        comm.ranks(), near, comm.rank()));
}

/// Libraries put windows there, and a page too many would be a signal in the middle of an operation. The
/// same verdict on all ranks: nobody allocates before all have looked.
void require_room(const Communicator& comm, Bytes mine) {
  struct statvfs there {};
  std::int64_t free = std::numeric_limits<std::int64_t>::max();  // where there is no such place
  if (statvfs("/dev/shm", &there) == 0)
    free = static_cast<std::int64_t>(there.f_bavail) * static_cast<std::int64_t>(there.f_frsize);
  std::int64_t needed = mine.value;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_INT64_T, MPI_SUM, comm.handle()),
            "MPI_Allreduce");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &free, 1, MPI_INT64_T, MPI_MIN, comm.handle()),
            "MPI_Allreduce");
  if (needed > free)
    throw Unsupported(
        fmt::format("the window needs {} bytes in /dev/shm, {} are free there", needed, free));
}

/// Each rank's part on pages of its own: those are where the rank runs that touches them first.
class PagesOfTheirOwn {
 public:
  PagesOfTheirOwn() {
    MPI_Info_create(&info_);
    MPI_Info_set(info_, "alloc_shared_noncontig", "true");
  }
  ~PagesOfTheirOwn() { MPI_Info_free(&info_); }
  PagesOfTheirOwn(const PagesOfTheirOwn&) = delete;
  PagesOfTheirOwn& operator=(const PagesOfTheirOwn&) = delete;
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace

SharedWindow::SharedWindow(const Communicator& comm, Bytes mine) {
  require_one_host(comm);
  require_room(comm, mine);
  // Every process maps whole pages, so an address is as far into its page in each of them.
  const std::size_t room = static_cast<std::size_t>(mine.value) + kAlignment;
  void* base = nullptr;
  check_mpi(MPI_Win_allocate_shared(static_cast<MPI_Aint>(room), 1, PagesOfTheirOwn().get(),
                                    comm.handle(), static_cast<void*>(&base), &handle_),
            "MPI_Win_allocate_shared");
  for (int r = 0; r < comm.ranks(); ++r) {
    MPI_Aint size = 0;
    int unit = 0;
    check_mpi(MPI_Win_shared_query(handle_, r, &size, &unit, static_cast<void*>(&base)),
              "MPI_Win_shared_query");
    auto space = static_cast<std::size_t>(size);
    of_.push_back(static_cast<std::byte*>(std::align(kAlignment, space - kAlignment, base, space)));
  }
  // Advice, as for other buffers: a tmpfs has huge pages only where its mount allows them.
  madvise(of(comm.rank()), static_cast<std::size_t>(mine.value), MADV_HUGEPAGE);
  // Plain loads and stores are allowed within an epoch; ours lasts as long as the window.
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_), "MPI_Win_lock_all");
}

SharedWindow::~SharedWindow() {
  if (handle_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(handle_);
  MPI_Win_free(&handle_);
}

std::vector<std::vector<int>> cores_of_each(MPI_Comm comm) {
  using Allowed = std::array<unsigned char, 1024>;  // [core]
  Allowed mine{};
  for (const int core : this_host().cores)
    if (static_cast<std::size_t>(core) < mine.size()) mine[static_cast<std::size_t>(core)] = 1;
  int ranks = 0;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::vector<Allowed> all(static_cast<std::size_t>(ranks));
  check_mpi(
      MPI_Allgather(mine.data(), sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
      "MPI_Allgather");
  std::vector<std::vector<int>> cores;
  for (const Allowed& allowed : all) {
    cores.emplace_back();
    for (std::size_t core = 0; core < allowed.size(); ++core)
      if (allowed[core] != 0) cores.back().push_back(static_cast<int>(core));
  }
  return cores;
}

}  // namespace collmark
