/// Compares nccl_abi.hpp with NCCL's own header.
#include "kernels/nccl/nccl_abi.hpp"

#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <type_traits>

namespace collmark {
namespace {

#define COLLMARK_NUMBER(ours, theirs) static_assert(static_cast<int>(nccl::ours) == theirs)
COLLMARK_NUMBER(Result::success, ncclSuccess);
COLLMARK_NUMBER(Result::unhandled_cuda_error, ncclUnhandledCudaError);
COLLMARK_NUMBER(Result::system_error, ncclSystemError);
COLLMARK_NUMBER(Result::internal_error, ncclInternalError);
COLLMARK_NUMBER(Result::invalid_argument, ncclInvalidArgument);
COLLMARK_NUMBER(Result::invalid_usage, ncclInvalidUsage);
COLLMARK_NUMBER(Result::remote_error, ncclRemoteError);
COLLMARK_NUMBER(Result::in_progress, ncclInProgress);
COLLMARK_NUMBER(DataType::u8, ncclUint8);
COLLMARK_NUMBER(DataType::i32, ncclInt32);
COLLMARK_NUMBER(DataType::i64, ncclInt64);
COLLMARK_NUMBER(DataType::f16, ncclFloat16);
COLLMARK_NUMBER(DataType::f32, ncclFloat32);
COLLMARK_NUMBER(DataType::f64, ncclFloat64);
COLLMARK_NUMBER(DataType::bf16, ncclBfloat16);
COLLMARK_NUMBER(Op::sum, ncclSum);
COLLMARK_NUMBER(Op::prod, ncclProd);
COLLMARK_NUMBER(Op::max, ncclMax);
COLLMARK_NUMBER(Op::min, ncclMin);
COLLMARK_NUMBER(Op::avg, ncclAvg);
COLLMARK_NUMBER(kNoColor, NCCL_SPLIT_NOCOLOR);

// The beginning of the structure is ours, whatever was added since.
static_assert(offsetof(nccl::Config, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(nccl::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(sizeof(nccl::Config) < sizeof(ncclConfig_t));
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));

TEST(NcclAbi, AConfigurationIsMarkedAsTheHeaderMarksIt) {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(nccl::Config{}.magic, theirs.magic);
}

/// A parameter list with our types in the place of theirs: two functions are alike if the lists are.
template <class T>
struct Ours {
  using type = T;
};
#define COLLMARK_TYPE(theirs, ours) \
  template <>                       \
  struct Ours<theirs> {             \
    using type = ours;              \
  }
COLLMARK_TYPE(ncclResult_t, nccl::Result);
COLLMARK_TYPE(ncclDataType_t, nccl::DataType);
COLLMARK_TYPE(ncclRedOp_t, nccl::Op);
COLLMARK_TYPE(ncclUniqueId, nccl::UniqueId);
COLLMARK_TYPE(ncclConfig_t, nccl::Config);
COLLMARK_TYPE(ncclComm_t, nccl::Comm);
COLLMARK_TYPE(cudaStream_t, cu::Stream);
template <class T>
requires(!std::is_same_v<typename Ours<T>::type, T>) struct Ours<T*> {
  using type = typename Ours<T>::type*;
};
template <class Result, class... Parameters>
struct Ours<Result (*)(Parameters...)> {
  using type = typename Ours<Result>::type (*)(typename Ours<Parameters>::type...);
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // ncclResetDebugInit
#define COLLMARK_ALIKE(result, name, symbol, parameters)                                         \
  static_assert(                                                                                 \
      std::is_same_v<decltype(nccl::Functions::name), typename Ours<decltype(&::symbol)>::type>, \
      #symbol);
COLLMARK_NCCL_FUNCTIONS(COLLMARK_ALIKE)
COLLMARK_NCCL_OPTIONAL(COLLMARK_ALIKE)
#pragma GCC diagnostic pop

}  // namespace
}  // namespace collmark
