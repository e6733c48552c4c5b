#include "kernels/stub_nccl/clique.hpp"

#include <cstring>

#include "kernels/arithmetic.hpp"

namespace collmark::stub {
namespace {

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

using Data = std::vector<std::byte>;

template <class T>
void reduce(Data& into, const std::vector<Data>& inputs, nccl::Op op) {
  auto* const to = reinterpret_cast<T*>(into.data());
  const std::size_t count = into.size() / sizeof(T);
  for (std::size_t r = 1; r < inputs.size(); ++r) {
    const auto* const from = reinterpret_cast<const T*>(inputs[r].data());
    for (std::size_t i = 0; i < count; ++i) to[i] = combined(operator_of(op), to[i], from[i]);
  }
  if (op != nccl::Op::avg) return;
  for (std::size_t i = 0; i < count; ++i) to[i] = divided(to[i], static_cast<int>(inputs.size()));
}

Data reduced(const std::vector<Data>& inputs, nccl::DataType type, nccl::Op op) {
  Data into = inputs.front();
  switch (type) {
    case nccl::DataType::f32:
      reduce<float>(into, inputs, op);
      break;
    case nccl::DataType::f64:
      reduce<double>(into, inputs, op);
      break;
    case nccl::DataType::f16:
      reduce<Half>(into, inputs, op);
      break;
    case nccl::DataType::bf16:
      reduce<Brain>(into, inputs, op);
      break;
    case nccl::DataType::i32:
      reduce<std::int32_t>(into, inputs, op);
      break;
    case nccl::DataType::i64:
      reduce<std::int64_t>(into, inputs, op);
      break;
    case nccl::DataType::u8:
      reduce<std::uint8_t>(into, inputs, op);
      break;
  }
  return into;
}

Data bytes(const void* from, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(from);
  return {first, first + size};
}

void put(void* to, const std::byte* from, std::size_t size) {
  if (size > 0) std::memcpy(to, from, size);
}

/// One collective: `calls[rank]`. Inputs are copied first, for it may be in place.
void collective(const std::vector<const Call*>& calls) {
  const Call& any = *calls.front();
  const std::size_t ranks = calls.size(), size = any.count * size_of(any.type);
  const bool scatters = any.what == Call::What::reduce_scatter;
  const auto root = static_cast<std::size_t>(any.root_or_peer);
  std::vector<Data> inputs;
  for (const Call* call : calls)
    inputs.push_back(bytes(call->send, scatters ? size * ranks : size));
  if (any.what == Call::What::broadcast) {
    for (const Call* call : calls) put(call->receive, inputs[root].data(), size);
  } else if (any.what == Call::What::all_gather) {
    for (const Call* call : calls)
      for (std::size_t r = 0; r < ranks; ++r)
        put(static_cast<std::byte*>(call->receive) + r * size, inputs[r].data(), size);
  } else {
    const Data all = reduced(inputs, any.type, any.op);
    for (std::size_t r = 0; r < ranks; ++r)
      if (any.what != Call::What::reduce || r == root)
        put(calls[r]->receive, all.data() + (scatters ? r * size : 0), size);
  }
}

/// The k-th receive from a peer takes the k-th send of that peer.
void exchange(const std::vector<const Work*>& works) {
  for (std::size_t me = 0; me < works.size(); ++me) {
    std::vector<std::size_t> next(works.size());
    for (const Call& call : *works[me]) {
      if (call.what != Call::What::receive) continue;
      const auto peer = static_cast<std::size_t>(call.root_or_peer);
      std::size_t& from = next[peer];
      const Work& theirs = *works[peer];
      while (theirs[from].what != Call::What::send ||
             theirs[from].root_or_peer != static_cast<int>(me))
        ++from;
      put(call.receive, static_cast<const std::byte*>(theirs[from++].send),
          call.count * size_of(call.type));
    }
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

void perform(const std::vector<const Work*>& works) {
  const Call::What first = works.front()->front().what;
  if (first == Call::What::send || first == Call::What::receive) return exchange(works);
  for (std::size_t i = 0; i < works.front()->size(); ++i) {
    std::vector<const Call*> calls;
    for (const Work* work : works) calls.push_back(&(*work)[i]);
    collective(calls);
  }
}

void Clique::join() {
  const std::lock_guard lock(mutex_);
  ++joined_;
}

bool Clique::complete() {
  const std::lock_guard lock(mutex_);
  return joined_ == ranks_;
}

void Clique::meet(int rank, const Work& work) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = executed_[static_cast<std::size_t>(rank)]++;
  Round& round = rounds_[number];
  round.works.resize(static_cast<std::size_t>(ranks_));
  round.works[static_cast<std::size_t>(rank)] = &work;
  if (++round.arrived == ranks_) {
    if (!aborted_) perform(round.works);
    round.done = true;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return round.done || aborted_; });
  if (++round.left == ranks_) rounds_.erase(number);
}

void Clique::wait_for_abort() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return aborted_; });
}

void Clique::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
}

}  // namespace collmark::stub
