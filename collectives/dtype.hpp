/// Element types, reduction operators and collectives by the names used on the command line and in
/// the CSV.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace collmark {

enum class Dtype { f32, f64, f16, bf16, i32, i64, u8 };
enum class ReduceOp { sum, prod, min, max, avg };
enum class Collective {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  all_to_all,
  barrier
};

enum class Placement { in_place, out_of_place };

inline constexpr std::array kDtypes{Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16,
                                    Dtype::i32, Dtype::i64, Dtype::u8};
inline constexpr std::array kReduceOps{ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max,
                                       ReduceOp::avg};
inline constexpr std::array kCollectives{Collective::all_reduce, Collective::reduce_scatter,
                                         Collective::all_gather, Collective::broadcast,
                                         Collective::reduce,     Collective::all_to_all,
                                         Collective::barrier};

[[nodiscard]] std::size_t size_of(Dtype dtype);  // [bytes]
[[nodiscard]] std::string_view name(Dtype dtype);
[[nodiscard]] std::string_view name(ReduceOp op);
[[nodiscard]] std::string_view name(Collective collective);
[[nodiscard]] std::optional<Dtype> parse_dtype(std::string_view text);
[[nodiscard]] std::optional<ReduceOp> parse_reduce_op(std::string_view text);
[[nodiscard]] std::optional<Collective> parse_collective(std::string_view text);

/// True where the collective adds up contributions (so that the operator and its bits matter).
[[nodiscard]] constexpr bool reduces(Collective c) {
  return c == Collective::all_reduce || c == Collective::reduce_scatter || c == Collective::reduce;
}

/// True where one rank is special: it holds what all get, or gets what all hold.
[[nodiscard]] constexpr bool has_root(Collective c) {
  return c == Collective::broadcast || c == Collective::reduce;
}

}  // namespace collmark
