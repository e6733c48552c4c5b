/// The MPI library's own collectives: what ours are measured against.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/mpi/rank_collective.hpp"
#include "collectives/partition.hpp"

namespace collmark {

/// `library`: the algorithm that the library chooses; `library:ring`: one that was forced, on a communicator that
/// a ForcedAlgorithm has made. What MPI has no word for is added by hand, is part of
/// what is timed, and is in the algorithm's name:
///
///   library+divide   avg: MPI_SUM, then each rank divides what it is owed
///   library+copy     broadcast out of place: the root copies its own data
///   library+move     reduce_scatter in place: MPI leaves a rank's part at the beginning of its buffer, all
///                    algorithms here leave it where it belongs
class LibraryCollective final : public RankCollective {
 public:
  /// `shape` gives ranks, chunks and root.
  ///   Throws   Unsupported for a dtype that MPI cannot reduce, or a count that one call cannot take and that
  ///            cannot be cut.
  LibraryCollective(MPI_Comm comm, const Schedule& shape, const Case& c, const RankBuffers& where);

  void run() override { (this->*call_)(); }
  [[nodiscard]] std::optional<Moved> moved() const override { return std::nullopt; }
  [[nodiscard]] const char* unbounded_wait() const override { return waits_in_; }

  /// What is added by hand to the library's part of `c`: "+divide", or nothing.
  [[nodiscard]] static std::string additions(const Case& c);

 private:
  void all_reduce();
  void reduce_scatter();
  void all_gather();
  void broadcast();
  void reduce();
  void all_to_all();
  void barrier();
  using Call = void (LibraryCollective::*)();
  [[nodiscard]] static Call call_of(Collective collective);

  void divide(std::byte* data, Elements count) const;
  [[nodiscard]] std::byte* at(std::byte* data, std::int64_t element) const {
    return data + element * static_cast<std::int64_t>(element_);
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_, root_;
  RankBuffers where_;
  Elements count_;
  std::size_t element_;  // [bytes]
  MPI_Datatype type_;
  MPI_Op op_;
  Dtype dtype_;
  bool divides_;
  std::vector<int> sizes_, offsets_;  // [rank], elements, of a chunk each
  Call call_;
  const char* waits_in_;
};

/// A schedule without steps: who holds and owes what when the library does it, in a chunk for each rank (and one more
/// for what it receives, in all_to_all).
[[nodiscard]] Schedule library_shape(const Case& c);

}  // namespace collmark
