/// How an algorithm of the catalogue runs as a kernel: which one, with how much memory, told what.
#pragma once

#include <string>

#include "collectives/plan.hpp"
#include "collectives/reference.hpp"
#include "kernels/kernel_list.hpp"
#include "kernels/kernel_name.hpp"
#include "kernels/world.hpp"

namespace collmark {

struct Tuning {
  int channels = 4;                      // rounded up to what the kernel needs
  int slots = 4;                         // of a link: 2, 4, 8, ...
  Bytes slot{std::int64_t{128} * 1024};  // of a link; of a tile, interpreted
};

/// What a launch is for. All ranks of a job make the same one.
struct KernelTask {
  KernelName name;
  Collective collective = Collective::all_reduce;
  int ranks = 1;
  int root = 0;
  Payload payload = {};
  Placement placement = Placement::out_of_place;
};

class KernelJob {
 public:
  /// Throws Unsupported where there is no such kernel, Error{usage} for an unknown algorithm or tuning that makes no
  /// sense.
  KernelJob(KernelTask task, const Tuning& tuning);

  [[nodiscard]] Kernel kernel() const { return kernel_; }
  [[nodiscard]] Protocol protocol() const { return shape_.protocol; }
  /// "ring_all_reduce_f32" (kernel_list.hpp).
  [[nodiscard]] std::string symbol() const;
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// Blocks of each rank.
  [[nodiscard]] int channels() const { return shape_.channels; }
  /// Of each rank's piece of memory (world.hpp), zeros at first.
  [[nodiscard]] std::size_t piece_size() const { return piece_bytes(shape_); }

  /// Ranks [first, first + count) of the job, which one launch holds.
  struct Ranks {
    int first = 0, count = 1;
  };
  /// What their launch is told, without given_up and stuck; all its lists go to `tables`.
  [[nodiscard]] Job lay_out(Ranks here, const Reach& reach, Tables& tables) const;

 private:
  void choose_kernel(const Tuning& tuning);
  [[nodiscard]] std::vector<TreePlace> trees(int rank, Tables& tables) const;
  [[nodiscard]] Program program(int rank, const World& world, const Reach& reach,
                                Tables& tables) const;

  KernelTask task_;
  Schedule schedule_;
  Kernel kernel_ = Kernel::interpreted;
  WorldShape shape_;
  int trees_ = 1;
  Plan plan_;  // of the interpreter
};

}  // namespace collmark
