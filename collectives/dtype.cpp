#include "collectives/dtype.hpp"

namespace collmark {
namespace {

constexpr std::array<std::string_view, 7> kDtypeNames{"f32", "f64", "f16", "bf16",
                                                      "i32", "i64", "u8"};
constexpr std::array<std::size_t, 7> kDtypeSizes{4, 8, 2, 2, 4, 8, 1};  // [bytes]
constexpr std::array<std::string_view, 5> kOpNames{"sum", "prod", "min", "max", "avg"};
constexpr std::array<std::string_view, 7> kCollectiveNames{
    "all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all", "barrier"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::size_t size_of(Dtype dtype) { return kDtypeSizes[static_cast<std::size_t>(dtype)]; }
std::string_view name(Dtype dtype) { return kDtypeNames[static_cast<std::size_t>(dtype)]; }
std::string_view name(ReduceOp op) { return kOpNames[static_cast<std::size_t>(op)]; }
std::string_view name(Collective c) { return kCollectiveNames[static_cast<std::size_t>(c)]; }

std::optional<Dtype> parse_dtype(std::string_view text) { return find<Dtype>(kDtypeNames, text); }
std::optional<ReduceOp> parse_reduce_op(std::string_view text) {
  return find<ReduceOp>(kOpNames, text);
}
std::optional<Collective> parse_collective(std::string_view text) {
  return find<Collective>(kCollectiveNames, text);
}

}  // namespace collmark
