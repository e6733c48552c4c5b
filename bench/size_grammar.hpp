/// The one grammar of sizes, rank counts and other numbers on the command line.
///
///   list   = item { ',' item }
///   item   = value | value ':' value ':' 'x' factor | value ':' value ':' '+' value
///          | value ':' value                        not of sizes: every whole number between
///          | 'auto'                                 where something may be left to the program
///   value  = digits [ '.' digits ] [ unit ]         1.5G; must come to a whole number
///   unit   = K | Ki | KiB | M | Mi | MiB | G | Gi | GiB         powers of 1024
///   factor = a whole number >= 2
///
/// A range holds its start and every further value up to and including its end. A value that
/// appears twice in a list is kept where it stands first. 0 is a legal size, but nothing grows from
/// it by multiplication.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/units.hpp"

namespace collmark {

inline constexpr std::size_t kMostValues =
    100'000;  // of one list; `1:64G:+1` is a slip, not a wish

/// What the numbers of a list are.
struct ListKind {
  std::string_view noun;  // in messages: "size", "--channels"
  std::int64_t least = 0, most = std::numeric_limits<std::int64_t>::max();
  std::string_view step_wanted = {};  // why a range must say its step; empty: it goes on by one
};

/// All throw Error{usage}: a line that says what was expected, the text itself, and a caret under
/// the fault.
[[nodiscard]] Bytes parse_size(std::string_view text);  // a single value
[[nodiscard]] std::string spelled(Bytes size);          // 64K, that reads back as the same
[[nodiscard]] std::vector<Bytes> parse_sizes(std::string_view text);  // never empty
[[nodiscard]] std::vector<int> parse_ranks(std::string_view text);    // never empty, each >= 1
/// An empty value stands for `auto`.
[[nodiscard]] std::vector<std::optional<std::int64_t>> parse_numbers_or_auto(std::string_view text,
                                                                             const ListKind& kind);

}  // namespace collmark
