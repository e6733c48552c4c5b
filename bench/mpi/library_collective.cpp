#include "bench/mpi/library_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "collectives/catalogue.hpp"
#include "collectives/reduce.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kMostInCall = std::int64_t{1} << 30;  // elements; MPI counts in int

/// Types that are only moved may stand for each other.
MPI_Datatype type_of(Dtype dtype, Collective collective) {
  switch (dtype) {
    case Dtype::f32:
      return MPI_FLOAT;
    case Dtype::f64:
      return MPI_DOUBLE;
    case Dtype::i32:
      return MPI_INT32_T;
    case Dtype::i64:
      return MPI_INT64_T;
    case Dtype::u8:
      return MPI_UINT8_T;
    case Dtype::f16:
    case Dtype::bf16:
      if (!reduces(collective)) return MPI_UINT16_T;
  }
  throw Unsupported(fmt::format("MPI has no type for {}", name(dtype)));
}

MPI_Op op_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return MPI_PROD;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::sum:
    case ReduceOp::avg:
      break;
  }
  return MPI_SUM;
}

bool divides(const Case& c) { return reduces(c.collective) && c.op == ReduceOp::avg; }

/// call(first, count) for pieces that an int can count; once for none at all.
template <class Piecewise>
void in_pieces(Elements all, const Piecewise& call) {
  std::int64_t done = 0;
  do {
    const std::int64_t some = std::min(kMostInCall, all.value - done);
    call(done, static_cast<int>(some));
    done += some;
  } while (done < all.value);
}

const char* waits_in(Collective collective) {
  constexpr std::array kCalls{"in MPI_Allreduce", "in MPI_Reduce_scatter", "in MPI_Allgather",
                              "in MPI_Bcast",     "in MPI_Reduce",         "in MPI_Alltoall",
                              "in MPI_Barrier"};  // by Collective
  return kCalls[static_cast<std::size_t>(collective)];
}

bool can_be_cut(Collective c) {
  return c == Collective::all_reduce || c == Collective::reduce || c == Collective::broadcast;
}

}  // namespace

Schedule library_shape(const Case& c) {
  const int halves = c.collective == Collective::all_to_all ? 2 : 1;  // input blocks, output blocks
  return {.ranks = c.ranks, .chunks = halves * c.ranks, .collective = c.collective, .root = c.root};
}

std::string LibraryCollective::additions(const Case& c) {
  std::string added;
  if (divides(c)) added += "+divide";
  if (c.collective == Collective::reduce_scatter && c.placement == Placement::in_place)
    added += "+move";
  if (c.collective == Collective::broadcast && c.placement == Placement::out_of_place)
    added += "+copy";
  return added;
}

LibraryCollective::LibraryCollective(MPI_Comm comm, const Schedule& shape, const Case& c,
                                     const RankBuffers& where)
    : comm_(comm),
      ranks_(shape.ranks),
      root_(c.root),
      where_(where),
      count_(c.count),
      element_(size_of(c.dtype)),
      type_(type_of(c.dtype, c.collective)),
      op_(op_of(c.op)),
      dtype_(c.dtype),
      divides_(divides(c)),
      call_(call_of(c.collective)),
      waits_in_(waits_in(c.collective)) {
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  if (!can_be_cut(c.collective) && count_.value > INT_MAX)
    throw Unsupported(
        fmt::format("{} elements are more than one call of MPI counts", count_.value));
  const Partition part(shape, count_);
  for (int r = 0; r < ranks_; ++r) {
    const Span chunk = part.chunk(r);
    if (can_be_cut(c.collective)) break;
    sizes_.push_back(static_cast<int>(chunk.size.value));
    offsets_.push_back(static_cast<int>(chunk.offset.value));
  }
}

LibraryCollective::Call LibraryCollective::call_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return &LibraryCollective::all_reduce;
    case Collective::reduce_scatter:
      return &LibraryCollective::reduce_scatter;
    case Collective::all_gather:
      return &LibraryCollective::all_gather;
    case Collective::broadcast:
      return &LibraryCollective::broadcast;
    case Collective::reduce:
      return &LibraryCollective::reduce;
    case Collective::all_to_all:
      return &LibraryCollective::all_to_all;
    case Collective::barrier:
      break;
  }
  return &LibraryCollective::barrier;
}

void LibraryCollective::divide(std::byte* data, Elements count) const {
  if (divides_) average_pass(dtype_)(data, static_cast<std::size_t>(count.value), ranks_);
}

void LibraryCollective::all_reduce() {
  const bool in_place = where_.input == where_.output;
  in_pieces(count_, [&](std::int64_t first, int some) {
    check_mpi(MPI_Allreduce(in_place ? MPI_IN_PLACE : at(where_.input, first),
                            at(where_.output, first), some, type_, op_, comm_),
              "MPI_Allreduce");
  });
  divide(where_.output, count_);
}

void LibraryCollective::reduce() {
  const bool in_place = where_.input == where_.output && rank_ == root_;
  in_pieces(count_, [&](std::int64_t first, int some) {
    check_mpi(MPI_Reduce(in_place ? MPI_IN_PLACE : at(where_.input, first),
                         rank_ == root_ ? at(where_.output, first) : nullptr, some, type_, op_,
                         root_, comm_),
              "MPI_Reduce");
  });
  if (rank_ == root_) divide(where_.output, count_);
}

void LibraryCollective::broadcast() {
  std::byte* const data = rank_ == root_ ? where_.input : where_.output;
  in_pieces(count_, [&](std::int64_t first, int some) {
    check_mpi(MPI_Bcast(at(data, first), some, type_, root_, comm_), "MPI_Bcast");
  });
  if (data != where_.output && count_.value > 0)
    std::memcpy(where_.output, data, static_cast<std::size_t>(count_.value) * element_);
}

void LibraryCollective::reduce_scatter() {
  const auto me = static_cast<std::size_t>(rank_);
  const bool in_place = where_.input == where_.output;
  std::byte* const mine = at(where_.output, offsets_[me]);
  check_mpi(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : where_.input,
                               in_place ? where_.output : mine, sizes_.data(), type_, op_, comm_),
            "MPI_Reduce_scatter");
  if (sizes_[me] == 0) return;
  if (in_place) std::memmove(mine, where_.output, static_cast<std::size_t>(sizes_[me]) * element_);
  divide(mine, {sizes_[me]});
}

void LibraryCollective::all_gather() {
  const auto me = static_cast<std::size_t>(rank_);
  const bool in_place = where_.input == where_.output;
  const void* const mine = in_place ? MPI_IN_PLACE : at(where_.input, offsets_[me]);
  const bool equal = sizes_.front() == sizes_.back();
  if (equal)
    check_mpi(MPI_Allgather(mine, sizes_[me], type_, where_.output, sizes_[me], type_, comm_),
              "MPI_Allgather");
  else
    check_mpi(MPI_Allgatherv(mine, sizes_[me], type_, where_.output, sizes_.data(), offsets_.data(),
                             type_, comm_),
              "MPI_Allgatherv");
}

void LibraryCollective::all_to_all() {
  check_mpi(MPI_Alltoall(where_.input, sizes_.front(), type_, where_.output, sizes_.front(), type_,
                         comm_),
            "MPI_Alltoall");
}

void LibraryCollective::barrier() { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }

}  // namespace collmark
