/// Which algorithms have a kernel of their own, and for which way of moving data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/dtype.hpp"
#include "collectives/units.hpp"
#include "kernels/kernel_list.hpp"
#include "kernels/kernel_name.hpp"

namespace collmark {

/// Up to how many bytes a kernel is taken where the name asks for no protocol: of a buffer, or of a buffer for each rank.
struct Small {
  std::int64_t buffer = 0, share = 0;
};

struct HandWritten {
  Collective collective;
  std::string_view algorithm;  // without its parameter
  Way way;                     // simple, links or low_latency
  Kernel kernel;
  Small small = {};
};
[[nodiscard]] std::span<const HandWritten> hand_written();
/// Null if there is none.
[[nodiscard]] const HandWritten* hand_written(Collective collective, std::string_view algorithm,
                                              Way way);
/// Whether a kernel of low latency is taken where the name asks for no protocol. All ranks of a job must say the same.
[[nodiscard]] bool suits(const HandWritten& kernel, Bytes buffer, int ranks);

/// Over links (links.hpp).
[[nodiscard]] bool is_ring(Kernel kernel);
[[nodiscard]] bool is_tree(Kernel kernel);

}  // namespace collmark
