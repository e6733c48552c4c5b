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

/// Whose wish it is that Open MPI heeds forced algorithms.
enum class DynamicRules { ours, users };

/// Called before MPI_Init: Open MPI heeds forced algorithms only if it was told then that there may be some. As long
/// as none is forced, its choice stays the same (coll_tuned_module.c, tuned_module_enable).
DynamicRules announce_forced_algorithms();

/// `library` alone: what the library would run without us. A variable of the user's that forces an algorithm is
///
///   heeded    if the user has allowed that too (Open MPI), or it always is (MPICH): the row names the algorithm
///   ignored   if we alone have allowed it: it is 0 while a communicator is made for the case
class OwnChoice {
 public:
  ///   Throws   Unsupported if the variable is to be ignored and cannot be set.
  OwnChoice(const Case& c, DynamicRules rules);
  ~OwnChoice();
  OwnChoice(const OwnChoice&) = delete;
  OwnChoice& operator=(const OwnChoice&) = delete;

  /// The communicator to call on; lives as long as this object. Called by all ranks of `like`, once.
  [[nodiscard]] MPI_Comm duplicate(MPI_Comm like);

  /// `library`, or `library->ring` if the user has forced that.
  [[nodiscard]] std::string row_name() const;

 private:
  std::optional<Setting> ignored_;
  std::string runs_;  // empty: whatever the library chooses
  MPI_Comm comm_ = MPI_COMM_NULL;
};

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
