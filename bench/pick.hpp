/// Which algorithms a command is about: names with or without their collective, files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/catalogue.hpp"

namespace collmark {

/// An algorithm as build() takes it.
struct Pick {
  Collective collective;
  std::string algorithm;  // "ring", "double_binary_tree:16", "file:PATH"
};

[[nodiscard]] bool is_file(std::string_view algorithm);  // "file:PATH"
[[nodiscard]] std::string path_of(std::string_view algorithm);

/// All collectives that have it, or just `only`. A file is of the one collective that it says.
/// Throws Error{usage} with a did-you-mean for an unknown name, or if `only` does not have it.
[[nodiscard]] std::vector<Pick> picks(std::string_view algorithm, std::optional<Collective> only);

/// The only one, all_reduce first. Throws Error{usage} if the name alone does not tell.
[[nodiscard]] Pick pick_one(std::string_view algorithm, std::optional<Collective> only);

/// "ring" of the catalogue, for its defaults and its paper; nullptr for a file.
[[nodiscard]] const Algorithm* entry(const Pick& pick);

/// Its parameter with the default filled in, for `ranks`.
[[nodiscard]] std::vector<int> numbers_of(const Pick& pick, int ranks);

/// "1-9, 16, 32" of numbers in ascending order.
[[nodiscard]] std::string ranges(const std::vector<int>& numbers);

}  // namespace collmark
