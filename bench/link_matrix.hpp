/// How far apart ranks are: every pair, a flag and a copy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/units.hpp"

namespace collmark {

/// From `first` to `second`: cores of this host, ranks of a job, or GPUs.
///
///           cores                                          ranks                               GPUs
///   flag    `second` waits for a word of `first`           an empty message                    8 bytes and their flag
///   copy    `second` copies what `first` has written       a message from `first` to `second`  as cores, by a kernel
///
/// A GPU and itself are no link: what stands there is from one of its blocks to another, and within its memory.
struct PairLink {
  int first = 0;
  int second = 0;
  std::string first_host = {};
  std::string second_host = {};
  Seconds flag{};              // one way
  double copy_gb_per_s = 0.0;  // alone
  std::optional<double> shared_gb_per_s =
      {};  // while as many other pairs as there are cores, ranks or GPUs for copy too
  // Of GPUs:
  std::optional<Seconds> low_latency = {};     // one way: 8 bytes that carry their flags
  std::optional<double> engine_gb_per_s = {};  // a copy by the driver, alone
  std::optional<Seconds> launch = {};          // of an empty kernel on `second`
  std::optional<Seconds> word = {};            // one way: 4 bytes that carry their flag
  std::string reason = {};                     // why nothing of all this could be measured

  [[nodiscard]] bool is_link() const { return first != second && reason.empty(); }
};

/// The n (n - 1) / 2 pairs of n things in rounds of disjoint pairs: n - 1 rounds, or n if n is odd.
///   Source   the circle method of round-robin tournaments (Kirkman 1847).
struct IndexPair {
  std::size_t first, second;
};
[[nodiscard]] std::vector<std::vector<IndexPair>> disjoint_rounds(std::size_t n);

/// [1e9 B/s]
[[nodiscard]] double gb_per_s(Bytes size, Seconds time);

/// Every pair of cores, first core < second core.
[[nodiscard]] std::vector<PairLink> measure_links(const std::vector<int>& cores, Bytes copied);

/// By first, then by second.
void sort_by_pair(std::vector<PairLink>& links);

/// Without host names if there is only one: then it tells nobody where to look.
[[nodiscard]] std::vector<PairLink> without_common_host(std::vector<PairLink> links);

/// Three lines: "slowest flag: core 0 to core 5, 215 ns, 4.1 times the median", and the same of copies alone
/// and all at once; empty without links that were measured.
[[nodiscard]] std::string slowest_links(const std::vector<PairLink>& all, const std::string& kind);

}  // namespace collmark
