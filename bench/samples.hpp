/// samples.csv: every reading of every rank of a case, beside its row in results.csv.
#pragma once

#include <string>

#include "bench/record.hpp"

namespace collmark {

[[nodiscard]] std::string samples_header();
/// One line per reading and rank; empty for a case that was not timed.
[[nodiscard]] std::string samples_rows(const Record& record);

}  // namespace collmark
