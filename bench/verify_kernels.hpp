/// `collmark verify --backend cuda`: kernels on the GPUs that there are, held against the reference bit for bit.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <string>

#include "bench/proof_plan.hpp"

namespace collmark {

/// The flags that only this has.
struct KernelsToVerify {
  std::string dtypes = "f32,f64,f16,bf16,i32,i64,u8";
  std::string operators = "sum,prod,min,max,avg";
  std::string placements = "out_of_place,in_place";
  std::string size = "1M";
  int timeout = 30;  // [s]
};
void declare(CLI::App& command, KernelsToVerify& flags);
/// Which of them was given; empty if none was.
[[nodiscard]] std::string first_given(const CLI::App& command);

/// Throws Error{usage}. The kernels and ranks are the caller's to fill in.
[[nodiscard]] ProofWish wish_from(const KernelsToVerify& flags);

enum class Listing { table, json };

/// Prints what it found.  Returns the exit code: 0, 5 if a result is wrong, 6 if nothing could be compared.
///   Throws   Error{absent} without a GPU; Error{timed_out} with the case and who waited for whom
[[nodiscard]] int verify_kernels(const ProofWish& wish, std::chrono::milliseconds timeout,
                                 Listing listing);

}  // namespace collmark
