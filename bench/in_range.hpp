/// A check for flags that take a number.
#pragma once

#include <CLI/App.hpp>  // alone, Validators.hpp does not compile

namespace collmark {

/// Least to most, judged as written. The parser's own range lets NaN pass, whose every comparison
/// is false, and reads "-1" into an unsigned number as one of the largest.
[[nodiscard]] CLI::Validator in_range(double least, double most);

/// The same for a flag of a whole number: 1e3 and 2.5 are none.
[[nodiscard]] CLI::Validator whole_in_range(int least, int most);

}  // namespace collmark
