/// Which kernel runs an algorithm, and what of its job follows from the algorithm: the same on the GPU and in tests.
#pragma once

#include <string>
#include <string_view>

#include "collectives/reference.hpp"
#include "collectives/schedule.hpp"
#include "kernels/job.hpp"
#include "kernels/kernel_list.hpp"

namespace collmark {

/// One collective on one kind of data.
struct Work {
  std::string algorithm;  // a name of the catalogue, with its parameter
  const Schedule& schedule;
  Payload payload;
  Placement placement = Placement::in_place;
};

/// Throws Unsupported, with the names that there are, if no kernel runs it.
[[nodiscard]] Kernel kernel_of(const Work& work);
/// "ring_all_reduce_f32".
[[nodiscard]] std::string kernel_symbol(const Work& work);

/// Elements of a buffer that every rank needs once more, to copy an input aside.
[[nodiscard]] std::int64_t staged_elements(const Work& work);

/// All but the memory and what belongs to the launch.
[[nodiscard]] Job job_of(const Work& work);

}  // namespace collmark
