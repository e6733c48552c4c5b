#include "kernels/stub_nccl/work.hpp"

#include <cstdint>
#include <cstring>

#include "collectives/index.hpp"
#include "kernels/arithmetic.hpp"

namespace collmark::stub {
namespace {

constexpr std::size_t kAligned = 64;

Operator operator_of(nccl::Op op) {
  switch (op) {
    case nccl::Op::prod:
      return Operator::prod;
    case nccl::Op::max:
      return Operator::max;
    case nccl::Op::min:
      return Operator::min;
    default:
      return Operator::sum;
  }
}

/// The same `size` bytes of every rank.
using Parts = std::vector<const std::byte*>;

/// Into memory that may be anything's but the parts'.
struct Destination {
  void* to;
  std::size_t size;  // [bytes]
};

template <class T>
void reduce(const Destination& into, const Parts& parts, nccl::Op op) {
  std::vector<T> sum(into.size / sizeof(T)), part(sum.size());  // parts lie at any address
  if (into.size == 0) return;
  std::memcpy(sum.data(), parts.front(), into.size);
  for (std::size_t r = 1; r < parts.size(); ++r) {
    std::memcpy(part.data(), parts[r], into.size);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] = combined(operator_of(op), sum[i], part[i]);
  }
  if (op == nccl::Op::avg)
    for (T& one : sum) one = divided(one, static_cast<int>(parts.size()));
  std::memcpy(into.to, sum.data(), into.size);
}

void reduce(const Destination& into, const Parts& parts, const Call& call) {
  switch (call.type) {
    case nccl::DataType::f32:
      return reduce<float>(into, parts, call.op);
    case nccl::DataType::f64:
      return reduce<double>(into, parts, call.op);
    case nccl::DataType::f16:
      return reduce<Half>(into, parts, call.op);
    case nccl::DataType::bf16:
      return reduce<Brain>(into, parts, call.op);
    case nccl::DataType::i32:
      return reduce<std::int32_t>(into, parts, call.op);
    case nccl::DataType::i64:
      return reduce<std::int64_t>(into, parts, call.op);
    case nccl::DataType::u8:
      return reduce<std::uint8_t>(into, parts, call.op);
  }
}

void put(void* to, const std::byte* from, std::size_t size) {
  if (size > 0) std::memcpy(to, from, size);
}

bool is_exchange(const Call& call) {
  return call.what == Call::What::send || call.what == Call::What::receive;
}

/// What a rank gives begins with a list of what it consists of.
struct Item {
  std::size_t offset = 0, size = 0;  // of its data [bytes]
  int peer = -1;                     // of a send; none: for all
};
static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));

std::size_t size_given(const Call& call, Seat seat) {
  if (call.what == Call::What::receive) return 0;
  const std::size_t size = call.count * size_of(call.type);
  return call.what == Call::What::reduce_scatter ? size * at(seat.ranks) : size;
}

Item item(const std::byte* given, std::size_t number) {
  Item one;
  std::memcpy(&one, given + number * sizeof one, sizeof one);
  return one;
}

/// Of the call with this number.
void collective(const Work& work, std::size_t number, Seat seat, const Parts& given) {
  const Call& call = work[number];
  const std::size_t size = call.count * size_of(call.type);
  const int root = call.root_or_peer;
  const std::size_t shift = call.what == Call::What::reduce_scatter ? size * at(seat.rank) : 0;
  Parts parts;
  for (const std::byte* one : given) parts.push_back(one + item(one, number).offset + shift);
  auto* const to = static_cast<std::byte*>(call.receive);
  if (call.what == Call::What::broadcast) {
    put(to, parts[at(root)], size);
  } else if (call.what == Call::What::all_gather) {
    for (std::size_t r = 0; r < parts.size(); ++r) put(to + r * size, parts[r], size);
  } else if (call.what != Call::What::reduce || seat.rank == root) {
    reduce({to, size}, parts, call);
  }
}

/// The k-th receive from a peer takes the k-th send of that peer.
void exchange(const Work& work, Seat seat, const Parts& given) {
  std::vector<std::size_t> next(given.size());
  for (const Call& call : work) {
    if (call.what != Call::What::receive) continue;
    const std::size_t peer = at(call.root_or_peer);
    std::size_t& number = next[peer];
    while (item(given[peer], number).peer != seat.rank) ++number;
    const Item sent = item(given[peer], number++);
    put(call.receive, given[peer] + sent.offset, sent.size);
  }
}

}  // namespace

std::size_t size_of(nccl::DataType type) {
  switch (type) {
    case nccl::DataType::u8:
      return 1;
    case nccl::DataType::f16:
    case nccl::DataType::bf16:
      return 2;
    case nccl::DataType::i32:
    case nccl::DataType::f32:
      return 4;
    case nccl::DataType::i64:
    case nccl::DataType::f64:
      return 8;
  }
  return 0;
}

std::size_t given_size(const Work& work, Seat seat) {
  std::size_t size = work.size() * sizeof(Item);
  for (const Call& call : work) size += size_given(call, seat);
  return (size + kAligned - 1) / kAligned * kAligned;
}

void give(const Work& work, Seat seat, std::byte* to) {
  Item one{.offset = work.size() * sizeof(Item)};
  for (std::size_t i = 0; i < work.size(); ++i) {
    one.size = size_given(work[i], seat);
    one.peer = work[i].what == Call::What::send ? work[i].root_or_peer : -1;
    std::memcpy(to + i * sizeof one, &one, sizeof one);
    put(to + one.offset, static_cast<const std::byte*>(work[i].send), one.size);
    one.offset += one.size;
  }
}

void take(const Work& work, Seat seat, const std::vector<const std::byte*>& given) {
  if (is_exchange(work.front())) return exchange(work, seat, given);
  for (std::size_t i = 0; i < work.size(); ++i) collective(work, i, seat, given);
}

}  // namespace collmark::stub
