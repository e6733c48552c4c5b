/// Element-wise reduction of several buffers in one pass, vectorised for the CPU it runs on.
///
/// The result is fixed bit for bit, whatever the instruction set:
///   out[i] = op(...op(op(src0[i], src1[i]), src2[i])..., srck[i])          in list order
///   f16, bf16   converted to f32, combined, rounded to nearest even at every operation
///   integers    wrap around (unsigned arithmetic)
///   min, max    IEEE 754-2019 minimum / maximum: NaN wins over numbers, -0 is less than +0
///   NaN         what an operation makes is always the one positive quiet NaN without payload
///               (f32 0x7fc00000), because which payload survives differs between CPUs; a copy
///               keeps all bits
///   avg         combines as sum; `average_pass` divides once, at the end
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "collectives/dtype.hpp"

namespace collmark {

/// How results are stored. Streaming stores bypass the caches: right only above the last-level
/// cache. After streaming, call `streaming_fence()` before another thread is told. Destinations
/// that do not lie equally within a cache line get ordinary stores.
enum class Stores { cached, streaming };

/// One pass: `count` elements of every source are combined and stored to every destination.
///   sources       >= 1 pointers; one source is a copy
///   destinations  >= 1 pointers; may equal a source exactly (same address), must not overlap
///   partly
///   returns       elements stored to each destination: what was moved, for whoever counts
using ReducePass = std::size_t (*)(std::span<const std::byte* const> sources,
                                   std::span<std::byte* const> destinations, std::size_t count,
                                   Stores stores);

/// The fastest pass for this CPU. Never null.
[[nodiscard]] ReducePass reduce_pass(Dtype dtype, ReduceOp op);

/// buffer[i] /= divisor, once rounded: in f32 (f64 for f64), truncating towards zero on integers.
using AveragePass = void (*)(std::byte* buffer, std::size_t count, int divisor);
[[nodiscard]] AveragePass average_pass(Dtype dtype);

void streaming_fence();

/// Instruction sets compiled in, and the one in use: "baseline", "avx2", "avx512".
enum class InstructionSet { baseline, avx2, avx512 };
[[nodiscard]] InstructionSet best_instruction_set();
[[nodiscard]] std::string_view name(InstructionSet set);
/// For tests and benchmarks: the pass of one instruction set; null if this CPU or build lacks it.
[[nodiscard]] ReducePass reduce_pass(Dtype dtype, ReduceOp op, InstructionSet set);
[[nodiscard]] AveragePass average_pass(Dtype dtype, InstructionSet set);

}  // namespace collmark
