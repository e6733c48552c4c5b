/// For tests of executors: inputs, what must become of them, and what must have moved.
#pragma once

#include <cstring>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "collectives/catalogue.hpp"
#include "collectives/partition.hpp"
#include "collectives/promise.hpp"
#include "collectives/rank_buffers.hpp"
#include "collectives/reference.hpp"

namespace collmark {

inline std::size_t bytes(const Payload& p) {
  return static_cast<std::size_t>(p.count.value) * size_of(p.dtype);
}

/// Fresh random bits for any dtype, no two ranks alike; floats are tamed to finite values.
inline std::vector<ByteBuffer> random_inputs(int ranks, const Payload& payload,
                                             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ByteBuffer> inputs;
  for (int r = 0; r < ranks; ++r) {
    std::vector<std::uint64_t> words(bytes(payload) / 8 + 1);
    for (std::uint64_t& w : words) w = random();
    ByteBuffer buffer(bytes(payload));
    if (!buffer.empty()) std::memcpy(buffer.data(), words.data(), buffer.size());
    const std::size_t element = size_of(payload.dtype);
    const bool floating =
        payload.dtype != Dtype::i32 && payload.dtype != Dtype::i64 && payload.dtype != Dtype::u8;
    // Clear one exponent bit of each float: no infinities or NaN go in (overflow may still come out).
    for (std::size_t i = element - 1; floating && i < buffer.size(); i += element)
      buffer[i] &= std::byte{0xBF};
    inputs.push_back(std::move(buffer));
  }
  return inputs;
}

/// The inputs of several operations in a row, and what the reference makes of them.
struct Expectation {
  std::vector<std::vector<ByteBuffer>> inputs, outputs;  // [operation][rank]
};

inline Expectation expect(const Schedule& schedule, const Payload& payload, int operations) {
  Expectation e;
  for (int i = 0; i < operations; ++i) {
    e.inputs.push_back(random_inputs(schedule.ranks, payload, 77 + static_cast<unsigned>(i)));
    e.outputs.push_back(reference(schedule, payload, e.inputs.back()));
  }
  return e;
}

/// Two outputs of one rank.
struct Outputs {
  const ByteBuffer& got;
  const ByteBuffer& expected;
};

/// Is every chunk that `rank` is owed the same in both, bit for bit?
inline bool owed_equal(const Schedule& s, const Payload& payload, int rank,
                       const Outputs& outputs) {
  const Partition part(s, payload.count);
  const std::size_t element = size_of(payload.dtype);
  for (int c = 0; c < s.chunks; ++c) {
    if (owed_after(s, rank, c).what == Owed::What::nothing || s.collective == Collective::barrier)
      continue;
    const auto offset = static_cast<std::size_t>(part.chunk(c).offset.value) * element;
    const auto size = static_cast<std::size_t>(part.chunk(c).size.value) * element;
    if (size > 0 &&
        std::memcmp(outputs.got.data() + offset, outputs.expected.data() + offset, size) != 0)
      return false;
  }
  return true;
}

inline bool is_supported(const Algorithm& a, int ranks) {
  try {
    (void)build(a.collective, a.name, ranks);
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

/// What the schedule moves over links into and out of each rank, by its own list of transfers.
inline std::vector<Moved> listed_moves(const Schedule& s, const Payload& payload) {
  const Partition part(s, payload.count);
  std::vector<Moved> moved(static_cast<std::size_t>(s.ranks));
  for (int t = 0; t < s.steps; ++t) {
    std::set<std::pair<int, int>> pairs;
    s.step(t, [&](const Transfer& x) {
      if (x.src == x.dst) return;
      Moved& from = moved[static_cast<std::size_t>(x.src)];
      from.messages += pairs.insert({x.src, x.dst}).second ? 1 : 0;
      for (int i = 0; i < x.count; ++i) {
        const Bytes size{part.chunk(x.src_chunk + i).size.value *
                         static_cast<std::int64_t>(size_of(payload.dtype))};
        from.sent += size;
        moved[static_cast<std::size_t>(x.dst)].received += size;
      }
    });
  }
  return moved;
}

}  // namespace collmark
