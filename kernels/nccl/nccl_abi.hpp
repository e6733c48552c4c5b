/// The part of NCCL's binary interface that collmark calls, as libnccl.so.2 exports it. Declared here, as driver_abi.hpp
/// does for the driver: the library is over 200 MB, often elsewhere, and found when the program runs. Where there is
/// an <nccl.h>, a test compares.
///   Source  nccl.h of NCCL 2.28.9.
#pragma once

#include <cstddef>

#include "kernels/driver_abi.hpp"

namespace collmark::nccl {

/// Of the header that these declarations were taken from; see version_text().
inline constexpr int kHeaderVersion = 22809;

enum class Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7
};

enum class DataType : int { u8 = 1, i32 = 2, i64 = 4, f16 = 6, f32 = 7, f64 = 8, bf16 = 9 };
enum class Op : int { sum = 0, prod = 1, max = 2, min = 3, avg = 4 };

struct UniqueId {
  char internal[128];
};
struct CommObject;  // NCCL's
using Comm = CommObject*;

/// What 2.14 knew, the first that need not block. A newer library takes so much as `size` says, and its defaults for what
/// came after `version` (NCCL, src/init.cc, parseCommConfig).
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 1;
  int padding = 0;
};

inline constexpr int kNoColor = -1;  // of a split: belongs to none of the new communicators

/// F(result, name of the member, exported symbol, parameters)
#define COLLMARK_NCCL_FUNCTIONS(F)                                                                \
  F(Result, get_version, ncclGetVersion, (int* version))                                          \
  F(Result, get_unique_id, ncclGetUniqueId, (UniqueId * id))                                      \
  F(Result, init_rank, ncclCommInitRankConfig,                                                    \
    (Comm * comm, int ranks, UniqueId id, int rank, Config* config))                              \
  F(Result, split, ncclCommSplit, (Comm comm, int color, int key, Comm* made, Config* config))    \
  F(Result, finalize, ncclCommFinalize, (Comm comm))                                              \
  F(Result, destroy, ncclCommDestroy, (Comm comm))                                                \
  F(Result, abort, ncclCommAbort, (Comm comm))                                                    \
  F(Result, get_async_error, ncclCommGetAsyncError, (Comm comm, Result * result))                 \
  F(const char*, get_error_string, ncclGetErrorString, (Result result))                           \
  F(const char*, get_last_error, ncclGetLastError, (Comm comm))                                   \
  F(Result, group_start, ncclGroupStart, ())                                                      \
  F(Result, group_end, ncclGroupEnd, ())                                                          \
  F(Result, all_reduce, ncclAllReduce,                                                            \
    (const void* send, void* receive, std::size_t count, DataType type, Op op, Comm comm,         \
     cu::Stream stream))                                                                          \
  F(Result, reduce_scatter, ncclReduceScatter,                                                    \
    (const void* send, void* receive, std::size_t each, DataType type, Op op, Comm comm,          \
     cu::Stream stream))                                                                          \
  F(Result, all_gather, ncclAllGather,                                                            \
    (const void* send, void* receive, std::size_t each, DataType type, Comm comm,                 \
     cu::Stream stream))                                                                          \
  F(Result, broadcast, ncclBroadcast,                                                             \
    (const void* send, void* receive, std::size_t count, DataType type, int root, Comm comm,      \
     cu::Stream stream))                                                                          \
  F(Result, reduce, ncclReduce,                                                                   \
    (const void* send, void* receive, std::size_t count, DataType type, Op op, int root,          \
     Comm comm, cu::Stream stream))                                                               \
  F(Result, send, ncclSend,                                                                       \
    (const void* data, std::size_t count, DataType type, int peer, Comm comm, cu::Stream stream)) \
  F(Result, receive, ncclRecv,                                                                    \
    (void* data, std::size_t count, DataType type, int peer, Comm comm, cu::Stream stream))

/// Those that a library may lack: registration is younger than 2.18, the last is to be taken away (nccl.h).
#define COLLMARK_NCCL_OPTIONAL(F)                                             \
  F(Result, mem_alloc, ncclMemAlloc, (void** pointer, std::size_t size))      \
  F(Result, mem_free, ncclMemFree, (void* pointer))                           \
  F(Result, register_buffer, ncclCommRegister,                                \
    (Comm comm, void* buffer, std::size_t size, void** handle))               \
  F(Result, deregister_buffer, ncclCommDeregister, (Comm comm, void* handle)) \
  F(void, reset_debug_init, ncclResetDebugInit, ())

/// Pointers to all of them.
struct Functions {
#define COLLMARK_MEMBER(result, name, symbol, parameters) result(*name) parameters = nullptr;
  COLLMARK_NCCL_FUNCTIONS(COLLMARK_MEMBER)
  COLLMARK_NCCL_OPTIONAL(COLLMARK_MEMBER)
#undef COLLMARK_MEMBER
};

}  // namespace collmark::nccl
