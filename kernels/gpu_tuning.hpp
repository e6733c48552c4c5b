/// How kernels are launched, as far as somebody asks for it.
#pragma once

#include <compare>
#include <optional>

#include "collectives/units.hpp"

namespace collmark {

/// Of a block: the most, and what it is where nothing is asked for. kernel_code_test.py sees that every kernel leaves registers for so many.
inline constexpr int kKernelThreads = 512;

/// What is empty is chosen by the size and the device.
struct GpuTuning {
  std::optional<int> channels = {};  // blocks of a rank
  std::optional<int> threads = {};   // of a block
  std::optional<int> slots = {};     // of a link: 2, 4, 8, ...
  std::optional<Bytes> slot = {};
  // Elements by which inputs begin behind a multiple of 16 bytes, and outputs one more; that costs time, and is for proofs.
  std::optional<int> misaligned = {};

  friend auto operator<=>(const GpuTuning&, const GpuTuning&) = default;
};

}  // namespace collmark
