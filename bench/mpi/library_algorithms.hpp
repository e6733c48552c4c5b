/// Which algorithms the MPI library can be made to use, and making it use one.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/library_name.hpp"
#include "bench/mpi/mpi_tools.hpp"

namespace collmark {

/// Called before MPI_Init: Open MPI heeds forced algorithms only if it was told then that there may be some. As long
/// as none is forced, its choice stays the same (coll_tuned_module.c, tuned_module_enable).
void announce_forced_algorithms();

/// One algorithm of the library in force, from construction to destruction. Both ways were read in the sources and
/// tried out:
///
///   Open MPI   coll_tuned reads coll_tuned_CALL_algorithm when a communicator is made. So it is set first, then the
///              communicator is duplicated, with the info key that puts coll_tuned before every other component.
///   MPICH      MPIR_CVAR_CALL_INTRA_ALGORITHM is read in every call; the device's own algorithms are switched off.
class ForcedAlgorithm {
 public:
  /// Of c.algorithm, which is `library:` and a name. Local; sets variables and reads them back.
  ///   Throws   Unsupported if this library, this job or this number of ranks is not for it.
  explicit ForcedAlgorithm(const Case& c);
  ~ForcedAlgorithm();
  ForcedAlgorithm(const ForcedAlgorithm&) = delete;
  ForcedAlgorithm& operator=(const ForcedAlgorithm&) = delete;

  /// A communicator of the same ranks whose calls use the algorithm; it is freed with this object. Called by all
  /// ranks of `like`, once.
  [[nodiscard]] MPI_Comm duplicate(MPI_Comm like);

  /// As long as it lives, a call that the algorithm cannot do fails if the library is able to say so.
  [[nodiscard]] std::optional<Setting> refusing_fallbacks() const;

  /// `library:ring`, or `library:ring->recursive_doubling` if the library answers with another one.
  [[nodiscard]] std::string row_name() const;

 private:
  std::vector<Setting> settings_;
  std::string name_, runs_;  // usual names: what was asked for, what answers
  std::string parameter_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace collmark
