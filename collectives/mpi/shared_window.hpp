/// Memory of several processes of one host that each of them reaches with plain loads and stores.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "collectives/mpi/communicator.hpp"
#include "collectives/units.hpp"

namespace collmark {

/// An MPI shared-memory window. Zeroed, and placed when first touched: every rank touches what is its own.
class SharedWindow {
 public:
  static constexpr std::size_t kAlignment = 4096;  // [bytes], of what each rank brings

  /// Called by all members of `comm`, each with the bytes that it brings.
  ///   Throws   Unsupported if they are on several hosts, or bring more than /dev/shm has room for.
  SharedWindow(const Communicator& comm, Bytes mine);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  /// What `rank` has brought, where this process sees it.
  [[nodiscard]] std::byte* of(int rank) const { return of_[static_cast<std::size_t>(rank)]; }

 private:
  MPI_Win handle_ = MPI_WIN_NULL;
  std::vector<std::byte*> of_;  // [rank]
};

/// [rank], the cores that each member of `comm` may run on. Called by all; they must be on one host. The same everywhere.
[[nodiscard]] std::vector<std::vector<int>> cores_of_each(MPI_Comm comm);

}  // namespace collmark
