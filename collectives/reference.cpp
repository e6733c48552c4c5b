#include "collectives/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/partition.hpp"
#include "collectives/promise.hpp"
#include "collectives/scalar_reduce.hpp"

namespace collmark {
namespace {

struct RankChunk {
  int rank;
  int chunk;
  friend auto operator<=>(const RankChunk&, const RankChunk&) = default;
};

struct Arrival {
  RankChunk from;
  Verb verb;
};

/// What arrives at each place in one step, in list order, one chunk at a time.
using Arrivals = std::map<RankChunk, std::vector<Arrival>>;

Arrivals arrivals(const Schedule& s, int step) {
  Arrivals at;
  s.step(step, [&](const Transfer& x) {
    if (x.verb == Verb::signal) return;
    for (int i = 0; i < x.count; ++i)
      at[{x.dst, x.dst_chunk + i}].push_back({{x.src, x.src_chunk + i}, x.verb});
  });
  return at;
}

class Interpreter {
 public:
  Interpreter(const Schedule& s, const Payload& payload, const std::vector<ByteBuffer>& inputs)
      : s_(s), payload_(payload), part_(s, payload.count), inputs_(inputs), outputs_(inputs) {}

  std::vector<ByteBuffer> run() && {
    for (int t = 0; t < s_.steps; ++t) step(t);
    if (payload_.op == ReduceOp::avg && reduces(s_.collective)) finish_average();
    return std::move(outputs_);
  }

 private:
  /// Reads all before it writes any: a step sees the state from before the step.
  void step(int t) {
    std::map<RankChunk, ByteBuffer> after;
    for (const auto& [place, list] : arrivals(s_, t)) after[place] = value(place, list);
    for (const auto& [place, bytes] : after)
      std::copy(bytes.begin(), bytes.end(), at(place).begin());
  }

  /// The new content of `place`. Its own value comes first, unless the list names it.
  ByteBuffer value(const RankChunk& place, const std::vector<Arrival>& list) {
    const bool named = std::any_of(list.begin(), list.end(), [&](const Arrival& a) {
      return a.verb == Verb::reduce && a.from == place;
    });
    ByteBuffer sum;
    bool empty = named;
    if (!named) sum = content(place);
    for (const Arrival& a : list) {
      if (empty || a.verb == Verb::copy)
        sum = content(a.from);
      else
        combine_scalar(payload_.dtype, payload_.op, sum, at(a.from));
      empty = false;
    }
    return sum;
  }

  /// The average is the sum over the contributors, divided once.
  void finish_average() {
    const int contributors = s_.ranks - s_.servers;
    for (int rank = 0; rank < s_.ranks; ++rank)
      for (int chunk = 0; chunk < s_.chunks; ++chunk)
        if (owed_after(s_, rank, chunk).what == Owed::What::every_contributor)
          divide_scalar(payload_.dtype, at({rank, chunk}), contributors);
  }

  ByteBuffer content(const RankChunk& place) {
    const auto bytes = at(place);
    return {bytes.begin(), bytes.end()};
  }

  /// Of all_to_all, chunks [0, ranks) lie in the input and the others in the output.
  std::span<std::byte> at(const RankChunk& place) {
    const bool of_input = s_.collective == Collective::all_to_all && place.chunk < s_.ranks;
    ByteBuffer& buffer = (of_input ? inputs_ : outputs_)[static_cast<std::size_t>(place.rank)];
    const Span span = part_.chunk(place.chunk);
    const std::size_t size = size_of(payload_.dtype);
    return std::span(buffer).subspan(static_cast<std::size_t>(span.offset.value) * size,
                                     static_cast<std::size_t>(span.size.value) * size);
  }

  const Schedule& s_;
  const Payload& payload_;
  Partition part_;
  std::vector<ByteBuffer> inputs_;
  std::vector<ByteBuffer> outputs_;
};

void require_inputs(const Schedule& s, const Payload& payload,
                    const std::vector<ByteBuffer>& inputs) {
  if (inputs.size() != static_cast<std::size_t>(s.ranks))
    throw Error(ErrorKind::broken, fmt::format("{} inputs for {} ranks", inputs.size(), s.ranks));
  const std::size_t bytes = static_cast<std::size_t>(payload.count.value) * size_of(payload.dtype);
  for (std::size_t r = 0; r < inputs.size(); ++r)
    if (inputs[r].size() != bytes)
      throw Error(ErrorKind::broken, fmt::format("the input of rank {} has {} bytes, not {}", r,
                                                 inputs[r].size(), bytes));
}

}  // namespace

std::vector<ByteBuffer> reference(const Schedule& s, const Payload& payload,
                                  const std::vector<ByteBuffer>& inputs) {
  require_inputs(s, payload, inputs);
  return Interpreter(s, payload, inputs).run();
}

}  // namespace collmark
