#include "bench/exact_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/element.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/promise.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kMostDifferent = 1021;  // values of c(i); beyond that nothing is gained
constexpr int kGenerationShift = 1543;         // [elements], prime to kPeriod

bool is_signed(Dtype dtype) { return dtype != Dtype::u8; }

/// Up to here every integer is exact.
std::int64_t largest_exact(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return 1 << 11;
    case Dtype::bf16:
      return 1 << 8;
    case Dtype::u8:
      return 255;
    default:
      return 1 << 24;  // f32; plenty for the wider ones
  }
}

/// Up to here 2^e is exact and its reciprocal, where there is one, too.
int largest_exponent(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return 12;
    case Dtype::u8:
      return 7;
    case Dtype::i32:
      return 28;
    default:
      return 60;
  }
}

/// splitmix64 (Steele, Lea, Flood 2014): a bijection that leaves no visible pattern.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::int64_t below(std::uint64_t random, std::int64_t limit) {
  return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(limit));
}

/// c(i), h(i) and s(i) of the formula, and d.
struct Parts {
  Parts(const ExactValues& v, std::int64_t i) {
    const auto random = mix(static_cast<std::uint64_t>(i));
    const std::int64_t limit = largest_exact(v.dtype) / v.contributors;
    different = std::clamp<std::int64_t>((limit + 1) / 2, 1, v.contributors);
    c = different + below(random & 0xFFFFFF, std::min(limit - different + 1, kMostDifferent));
    h = below(random >> 24 & 0xFFFFFF, v.contributors);
    s = is_signed(v.dtype) && (random >> 63) != 0 ? -1 : 1;
    whole_groups = v.contributors / different * different;
  }
  [[nodiscard]] std::int64_t d(std::int64_t turned) const {
    return turned < whole_groups ? 2 * (turned % different) - (different - 1) : 0;
  }
  std::int64_t different, c, h, s, whole_groups;
};

double power_of_two(const ExactValues& v, int r, std::int64_t i) {
  const auto random = mix(static_cast<std::uint64_t>(i) * 4099 + static_cast<std::uint64_t>(r));
  const bool floating = v.dtype != Dtype::i32 && v.dtype != Dtype::i64 && v.dtype != Dtype::u8;
  const double sign = is_signed(v.dtype) && (random & 1) != 0 ? -1.0 : 1.0;
  const bool counts = (r + i) % v.contributors < largest_exponent(v.dtype);
  const int other = floating ? -1 : 0;
  const int exponent = !counts ? 0 : (random & 2) != 0 ? other : 1;
  return sign * std::ldexp(1.0, exponent);
}

}  // namespace

double ExactValues::input(int r, std::int64_t i) const {
  if (op == ReduceOp::prod) return power_of_two(*this, r, i);
  const Parts parts(*this, i);
  return static_cast<double>(parts.s * (parts.c + parts.d((r + parts.h) % contributors)));
}

double ExactValues::result(std::int64_t i) const {
  double all = input(0, i);
  for (int r = 1; r < contributors; ++r) {
    const double x = input(r, i);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
        all += x;
        break;
      case ReduceOp::prod:
        all *= x;
        break;
      case ReduceOp::min:
        all = std::min(all, x);
        break;
      case ReduceOp::max:
        all = std::max(all, x);
        break;
    }
  }
  return op == ReduceOp::avg ? all / contributors : all;
}

namespace {

template <class ValueAt>
std::vector<std::byte> pattern_of(Dtype dtype, ValueAt value_at) {
  std::vector<std::byte> pattern(kPeriod * size_of(dtype));
  for (std::size_t i = 0; i < kPeriod; ++i) {
    const double value = value_at(static_cast<int>(i));
    std::byte* const to = &pattern[i * size_of(dtype)];
    store_exact(value, dtype, to);
    if (load(to, dtype) != value)
      throw Unsupported(
          fmt::format("{} cannot hold {}, which an exact sum needs", name(dtype), value));
  }
  return pattern;
}

}  // namespace

/// Longer pieces are faster to write and to compare than many short ones.
void ExactData::append(std::vector<Piece>& pieces, const Piece& next) {
  if (next.size.value == 0) return;
  if (!pieces.empty()) {
    Piece& last = pieces.back();
    if (last.pattern == next.pattern && last.at + last.size == next.at &&
        last.from + last.size == next.from) {
      last.size += next.size;
      return;
    }
  }
  pieces.push_back(next);
}

ExactData::ExactData(const Schedule& s, const Payload& payload, int times) : dtype_(payload.dtype) {
  const ExactValues values{s.ranks - s.servers, payload.dtype, payload.op};
  if (values.contributors > largest_exact(dtype_))
    throw Unsupported(fmt::format("{} cannot hold an exact sum over {} ranks", name(dtype_),
                                  values.contributors));
  for (int r = 0; r < s.ranks; ++r)  // a server holds what must not be added: one input too many
    patterns_.push_back(pattern_of(
        dtype_, [&](int i) { return times * values.input(std::max(0, r - s.servers), i); }));
  patterns_.push_back(pattern_of(dtype_, [&](int i) { return values.result(i); }));

  held_.resize(static_cast<std::size_t>(s.ranks));
  owed_.resize(static_cast<std::size_t>(s.ranks));
  if (s.collective == Collective::barrier) return;  // no data
  const Partition part(s, payload.count);
  for (int r = 0; r < s.ranks; ++r) {
    for (int c = 0; c < s.chunks; ++c) {
      const auto [offset, size] = part.chunk(c);
      if (held_before(s, r, c) || !s.contributes(r))
        append(held_[static_cast<std::size_t>(r)], {offset, size, r, offset});
      const Owed owed = owed_after(s, r, c);
      if (owed.what == Owed::What::nothing) continue;
      const int pattern = owed.what == Owed::What::one ? owed.from.rank : s.ranks;
      append(owed_[static_cast<std::size_t>(r)],
             {offset, size, pattern, part.chunk(owed.from.chunk).offset});
    }
  }
}

std::int64_t ExactData::phase_of(const Piece& piece, int generation) {
  const std::int64_t shift = std::int64_t{generation} % kPeriod * kGenerationShift;
  return (piece.from.value + shift) % kPeriod;
}

std::vector<ExactData::Stretch> ExactData::stretches(const std::vector<Piece>& pieces,
                                                     int generation) {
  std::vector<Stretch> all;
  for (const Piece& piece : pieces)
    all.push_back({piece.at, piece.size, piece.pattern, phase_of(piece, generation)});
  return all;
}

std::vector<ExactData::Stretch> ExactData::inputs(int rank, int generation) const {
  return stretches(held_[static_cast<std::size_t>(rank)], generation);
}

std::vector<ExactData::Stretch> ExactData::results(int rank, int generation) const {
  return stretches(owed_[static_cast<std::size_t>(rank)], generation);
}

/// Cuts a piece where its pattern starts anew and hands on: position in the buffer, bytes of the
/// pattern, elements.
template <class Visit>
void ExactData::for_each_stretch(const Piece& piece, int generation, Visit visit) const {
  const std::size_t element = size_of(dtype_);
  const std::byte* pattern = patterns_[static_cast<std::size_t>(piece.pattern)].data();
  std::int64_t phase = phase_of(piece, generation);
  for (std::int64_t done = 0; done < piece.size.value;) {
    const std::int64_t count = std::min(kPeriod - phase, piece.size.value - done);
    visit(piece.at.value + done, pattern + static_cast<std::size_t>(phase) * element, count);
    done += count;
    phase = 0;
  }
}

void ExactData::write_input(int rank, int generation, std::byte* input) const {
  const std::size_t element = size_of(dtype_);
  for (const Piece& piece : held_[static_cast<std::size_t>(rank)])
    for_each_stretch(piece, generation,
                     [&](std::int64_t at, const std::byte* from, std::int64_t n) {
                       std::memcpy(input + static_cast<std::size_t>(at) * element, from,
                                   static_cast<std::size_t>(n) * element);
                     });
}

Check ExactData::check(int rank, int generation, const std::byte* output) const {
  const std::size_t element = size_of(dtype_);
  Check check;
  for (const Piece& piece : owed_[static_cast<std::size_t>(rank)])
    for_each_stretch(piece, generation,
                     [&](std::int64_t at, const std::byte* want, std::int64_t n) {
                       const std::byte* got = output + static_cast<std::size_t>(at) * element;
                       if (std::memcmp(got, want, static_cast<std::size_t>(n) * element) == 0)
                         return;
                       for (std::int64_t i = 0; i < n; ++i, got += element, want += element) {
                         if (std::memcmp(got, want, element) == 0) continue;
                         if (check.wrong++ == 0)
                           check.first = {rank, at + i, load(got, dtype_), load(want, dtype_)};
                       }
                     });
  return check;
}

}  // namespace collmark
