/// One spelling for both compilers: kernels include this, and nothing of CUDA or of the CPU grid besides.
///
///   nvcc   on_gpu/platform.hpp: CUDA
///   g++    on_cpu/platform.hpp: the same source runs in on_cpu/grid.hpp, under seeded schedules and sanitizers
///
/// Both define, in namespace collmark:
///
///   COLLMARK_KERNEL, COLLMARK_DEVICE     what a kernel and a device function begin with; instances.cu makes symbols
///                                        of the kernels in kernel_list.hpp
///   COLLMARK_UNROLL                      before a loop over an array that is to stay in registers
///   thread_index(), thread_count()       in the block
///   block_index()                        in the grid
///   block_barrier()                      all threads of the block; orders all memory between them
///   block_all(said)                      the same, and true if all threads said true
///   load_acquire(word), load_relaxed(word), store_release(word, value)
///                                        32-bit flags, system scope: seen by other GPUs and the host
///   claim(word)                          true for the one caller that made 1 of 0
///   store_words(line, a, b), load_words(line, &a, &b)
///                                        two 64-bit words, each relaxed and whole, in no order: data that carries its flag
///   store_word(word, a), load_word(word) one 64-bit word, relaxed and whole
///   COLLMARK_SHARED(type, name, count)   an array of the block
///   is_nan(x)                            of f32 and f64
///   to_bits(x), from_bits(n)             f32 and f64 as integers
///   half_to_float(n), float_to_half(x)   IEEE 754 binary16, to nearest even; no NaN goes in
///   quotient(a, b)                       to nearest even
///   nanoseconds()                        of a clock that runs as long as the launch does
///   kLooksPerReading                     so many looks at a flag for each look at the clock
///   stay(wait)                           between two looks at a flag that is not there yet
///   progress()                           a wait is over; tells the CPU's deadlock detector
///   note_pass(loads, stores)             bytes, by one thread of the block: for what watches on the CPU
///   notes_transfers()                    false where nobody asks, as in all launches that are timed
///   note_transfer(transfer)              what a move brought from a peer, likewise
#pragma once

#if defined(__CUDACC__)
#include "kernels/on_gpu/platform.hpp"
#else
#include "kernels/on_cpu/platform.hpp"
#endif
