#include "bench/library_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/size_grammar.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

constexpr std::string_view kLibrary = "library";

struct Spelling {
  std::string_view theirs, usual;
};

/// Open MPI 4.1.4: ompi/mca/coll/tuned/coll_tuned_*_decision.c; MPICH 4.0.2: src/mpi/coll/cvars.txt.
constexpr std::array kSpellings{
    Spelling{"basic_linear", "linear"},
    Spelling{"non-overlapping", "nonoverlapping"},
    Spelling{"in-order_binary", "in_order_binary"},
    Spelling{"modified_bruck", "bruck"},
    Spelling{"neighbor", "neighbor_exchange"},
    Spelling{"default", "gather_bcast"},
    Spelling{"brucks", "bruck"},
    Spelling{"nb", "nonblocking"},
    Spelling{"reduce_scatter_allgather", "rabenseifner"},
    Spelling{"reduce_scatter_gather", "rabenseifner"},
    Spelling{"scatter_recursive_doubling_allgather", "scatter_allgather"},
    Spelling{"scatter_ring_allgather", "scatter_allgather_ring"},
};

}  // namespace

bool is_library(std::string_view algorithm) {
  return algorithm == kLibrary || algorithm.starts_with("library:") ||
         algorithm.starts_with("library/");
}

LibraryName parse_library_name(std::string_view text) {
  if (text == kLibrary) return {};
  if (text[kLibrary.size()] == '/')
    throw Error(
        ErrorKind::usage,
        fmt::format("'{}': only NCCL has variants of its own choice, --backend nccl", text));
  std::string_view rest = text.substr(kLibrary.size() + 1);
  const std::size_t colon = rest.find(':');
  LibraryName name{.algorithm = std::string(rest.substr(0, colon))};
  if (name.algorithm.empty())
    throw Error(ErrorKind::usage, fmt::format("'{}': a name is missing, as in library:ring", text));
  if (colon != std::string_view::npos) {
    name.parameter = rest.substr(colon);
    name.segment = parse_size(rest.substr(colon + 1));
    if (name.segment.value < 1 || name.segment.value > (1 << 30))
      throw Error(
          ErrorKind::usage,
          fmt::format("'{}': a segment has 1 B to 1 GiB, as in library:pipeline:64K", text));
  }
  return name;
}

std::string usual_name(std::string_view theirs) {
  const auto* const found = std::find_if(kSpellings.begin(), kSpellings.end(),
                                         [&](const Spelling& s) { return s.theirs == theirs; });
  return std::string(found == kSpellings.end() ? theirs : found->usual);
}

const LibraryAlgorithm& choose_library_algorithm(Collective collective, const LibraryName& asked,
                                                 const std::vector<LibraryAlgorithm>& choices) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const LibraryAlgorithm& a) {
    return a.name == asked.algorithm || a.theirs == asked.algorithm;
  });
  if (found == choices.end()) {
    std::vector<std::string> names;
    for (const LibraryAlgorithm& a : choices) names.push_back(a.name);
    throw Error(ErrorKind::usage,
                fmt::format("'library:{}': the MPI library has no {} of that name{}; it has {}",
                            asked.algorithm, name(collective), did_you_mean(asked.algorithm, names),
                            fmt::join(names, ", ")));
  }
  if (asked.segment.value > 0 && !found->segments)
    throw Error(ErrorKind::usage, fmt::format("'library:{}{}': this {} takes no segment",
                                              asked.algorithm, asked.parameter, name(collective)));
  return *found;
}

}  // namespace collmark
