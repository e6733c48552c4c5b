/// Which algorithms have a kernel of their own, and for which way of moving data.
#pragma once

#include <span>
#include <string_view>

#include "collectives/dtype.hpp"
#include "kernels/kernel_list.hpp"
#include "kernels/kernel_name.hpp"

namespace collmark {

struct HandWritten {
  Collective collective;
  std::string_view algorithm;  // without its parameter
  Way way;
  Kernel kernel;
};
[[nodiscard]] std::span<const HandWritten> hand_written();

/// Over links (links.hpp).
[[nodiscard]] bool is_ring(Kernel kernel);
[[nodiscard]] bool is_tree(Kernel kernel);

}  // namespace collmark
