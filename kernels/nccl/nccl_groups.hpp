/// The communicators of one launch: that of everybody, and those split from it, for fewer ranks or with something forced.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/nccl/nccl_choice.hpp"
#include "kernels/nccl/nccl_group.hpp"

namespace collmark {

/// All processes of `everybody` do the same in the same order.
class NcclGroups {
 public:
  explicit NcclGroups(std::unique_ptr<NcclGroup> everybody) : everybody_(std::move(everybody)) {}
  ~NcclGroups() { split_.clear(); }  // in order where everybody is still in order
  NcclGroups(const NcclGroups&) = delete;
  NcclGroups& operator=(const NcclGroups&) = delete;

  /// Of everybody.
  [[nodiscard]] int size() const { return everybody_->size(); }

  struct Wanted {
    int ranks = 1;
    Collective collective = Collective::all_reduce;  // that the choice is for
    NcclChoice choice = {};
  };
  /// Made when it is first wanted. At most size() ranks.
  ///   Throws   Unsupported in NCCL's words, if it refuses what is forced; else as NcclGroup::split. Then all are aborted.
  [[nodiscard]] NcclGroup& of(const Wanted& wanted);

  /// One that has been aborted is of no more use, and neither are the others if it was that of everybody.
  void drop(const Wanted& wanted);
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
  std::map<Key, std::unique_ptr<NcclGroup>> split_;
};

}  // namespace collmark
