/// How collectives of NCCL are called on the command line and in rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/nccl/nccl_choice.hpp"
#include "kernels/nccl/nccl_collective.hpp"

namespace collmark {

/// `library`, `library:ring`, `library/LL128`, `library:tree/simple/graph`, `library/registered`, taken apart.
struct NcclName {
  NcclChoice choice = {};
  NcclBuffers buffers = NcclBuffers::plain;
  bool replayed = false;  // from a graph
};

/// Throws Error{usage} with a did-you-mean.
[[nodiscard]] NcclName parse_nccl_name(std::string_view text);

/// Those that NCCL may have for a collective, on some machine: `ring`, ...
///   Source   NCCL 2.27, src/graph/tuning.cc, ncclTopoTuneModel
[[nodiscard]] std::vector<std::string> nccl_algorithms(Collective collective);

/// "ring" of NCCL's "Ring", in whatever case; one that nobody knows stays as it is.
[[nodiscard]] std::string usual_nccl_name(std::string_view theirs);

}  // namespace collmark
