/// Every algorithm by collective and name, and how a name such as `double_binary_tree:16` becomes a
/// Schedule.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collectives/dtype.hpp"
#include "collectives/error.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

#define ALGORITHM(collective, name, builder, source) Schedule builder(int ranks);
#define SEGMENTED(collective, name, builder, meaning, standard, source) \
  Schedule builder(int ranks, int number);
#define GRID(collective, name, builder, source) Schedule builder(int ranks, int m, int n);
#include "collectives/catalogue.def"
#undef ALGORITHM
#undef SEGMENTED
#undef GRID

/// The algorithm exists but not for these ranks or this parameter: a skipped row, not an error.
/// Builders throw it as their first line, with the numbers in the message.
class Unsupported : public Error {
 public:
  explicit Unsupported(const std::string& why) : Error(ErrorKind::usage, why) {}
};

struct Algorithm {
  using Plain = Schedule (*)(int ranks);
  using Segmented = Schedule (*)(int ranks, int number);
  using Grid = Schedule (*)(int ranks, int m, int n);

  Collective collective;
  std::string_view name;
  std::variant<Plain, Segmented, Grid> builder;
  std::string_view parameter;  // what follows the colon: "segments", "m x n"; empty = nothing may
  int standard;                // the number used when none is given; 0 = derived from the ranks
  std::string_view source;
};

[[nodiscard]] std::span<const Algorithm> catalogue();
/// Those of one collective, in catalogue order.
[[nodiscard]] std::vector<Algorithm> catalogue(Collective collective);

/// `ring`, `double_binary_tree:16`, `hierarchical_ring:2x4`, taken apart. Numbers are >= 1.
/// `file:PATH` is all base, without numbers.
struct AlgorithmName {
  std::string base;
  std::vector<int> numbers;
};
/// Throws Error{usage} for a malformed parameter.
[[nodiscard]] AlgorithmName parse_algorithm(std::string_view text);

/// The same with the default numbers of a catalogue algorithm filled in; files pass unchanged.
/// Throws Error{usage} with a did-you-mean for an unknown name, or for numbers it does not take.
[[nodiscard]] AlgorithmName resolve(Collective collective, std::string_view text, int ranks);

/// The schedule of `text` (a catalogue name with optional parameter, or `file:PATH`) for `ranks`.
/// Throws Error{usage} with a did-you-mean for an unknown name, Unsupported for ranks it cannot do.
[[nodiscard]] Schedule build(Collective collective, std::string_view text, int ranks, int root = 0);

/// The squarest m x n = ranks with m <= n.
struct GridShape {
  int m, n;
};
[[nodiscard]] GridShape squarest_grid(int ranks);

}  // namespace collmark
