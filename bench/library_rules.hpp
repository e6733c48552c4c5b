/// What Open MPI runs when the algorithm that it was told to run is none for these ranks or this count. It says so
/// to nobody: the control variable that forced the algorithm keeps its value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/library_name.hpp"

namespace collmark {

struct LibraryCall {
  Collective collective = Collective::all_reduce;
  std::string_view algorithm;  // its usual name
  int ranks = 2;
  Elements count;           // of a rank's whole buffer
  std::size_t element = 4;  // [bytes]
  Bytes segment = {};       // 0: not cut
};

/// The usual name of the algorithm that answers the call, which is `algorithm` itself if it can. "none": MPI
/// returns at once.
///   Source   Open MPI 4.1.4, ompi/mca/coll/base/coll_base_*.c; scripts/tests/
///            mpi_library_test.py compares them with the messages that Open MPI counts.
[[nodiscard]] std::string open_mpi_runs(const LibraryCall& call);

/// Does Open MPI's algorithm of that name cut messages into segments? Others ignore the segment.
[[nodiscard]] bool open_mpi_cuts(Collective collective, std::string_view algorithm);

}  // namespace collmark
