/// The communicators of one launch: that of everybody, and those split from it, for fewer ranks or with something forced.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/nccl/nccl_choice.hpp"
#include "kernels/nccl/nccl_group.hpp"

namespace collmark {

/// All processes of `everybody` do the same in the same order. Each communicator holds memory of the devices, so few are kept: the
/// one that was longest not wanted is ended first.
class NcclGroups {
 public:
  explicit NcclGroups(std::unique_ptr<NcclGroup> everybody) : everybody_(std::move(everybody)) {}
  /// As end().
  ~NcclGroups() { (void)end(); }
  NcclGroups(const NcclGroups&) = delete;
  NcclGroups& operator=(const NcclGroups&) = delete;

  /// Of everybody.
  [[nodiscard]] int size() const { return everybody_->size(); }

  struct Wanted {
    int ranks = 1;
    Collective collective = Collective::all_reduce;  // that the choice is for
    NcclChoice choice = {};
  };
  /// Made when it is wanted and not kept; until it is wanted again, another may end it. At most size() ranks.
  ///   Throws   Unsupported in NCCL's words, if it refuses what is forced; else as NcclGroup::split, or Error{timed_out} if another
  ///            does not come to its end. Then all are aborted.
  [[nodiscard]] NcclGroup& of(const Wanted& wanted);

  /// One that has been aborted is of no more use, and neither are the others if it was that of everybody.
  void drop(const Wanted& wanted);
  /// All of them, in order where everybody is still in order; as NcclGroup::end. Where one does not come to its end, the others are
  /// aborted at once: that takes three times the patience of one at most, however many there are.
  bool end() noexcept;
  /// How many were split and are kept.
  [[nodiscard]] int kept() const { return static_cast<int>(split_.size()); }
  /// All of them, as NcclGroup does it.
  void abort() noexcept;
  [[nodiscard]] bool aborted() const { return everybody_->aborted(); }

 private:
  using Key =
      std::tuple<int, Collective, std::string, std::string>;  // ranks, ..., algorithm, protocol
  [[nodiscard]] static Key key(const Wanted& wanted);
  [[nodiscard]] bool is_everybody(const Wanted& wanted) const {
    return wanted.ranks == size() && !wanted.choice.is_forced();
  }

  std::unique_ptr<NcclGroup> everybody_;
  using Split = std::pair<Key, std::unique_ptr<NcclGroup>>;
  void make_room();

  std::list<Split> split_;  // the one that was wanted last first
};

}  // namespace collmark
