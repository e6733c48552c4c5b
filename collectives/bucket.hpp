/// Bucket policies: how training frameworks fuse gradient tensors into the messages of one step.
///
///   tensors (registration order)     a policy, its cap      buckets (in the order they are sent)
///   conv1 | bn1 | ... | fc.weight | fc.bias      ->         [fc.bias fc.weight] [... bn1 conv1]
///
/// A plan depends on names and sizes only, so it is a pure function, and the same cap gives other
/// messages under other policies. Every bucket holds one dtype. All tensors are taken as ready at
/// once.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/model_list.hpp"

namespace collmark {

/// Elements [offset, offset + count) of one tensor: all of it, except under byteps.
struct Piece {
  int tensor;  // index into the list that was planned
  Elements offset;
  Elements count;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// One message: pieces of one dtype, packed in this order.
struct Bucket {
  Dtype dtype = Dtype::f32;
  Elements count = {};
  std::vector<Piece> pieces = {};
  [[nodiscard]] Bytes bytes() const {
    return {count.value * static_cast<std::int64_t>(size_of(dtype))};
  }
};

struct BucketConfig {
  std::optional<Bytes> cap = {};      // > 0; empty = the framework's default
  int ranks = 1;                      // data-parallel size: megatron's default grows with it
  std::vector<int> split_after = {};  // mindspore_index: the last tensor of each bucket, ascending
};

/// What a rule plans from, checked.
struct BucketRequest {
  std::span<const Tensor> tensors;
  std::function<Bytes(Dtype)> cap;  // empty for a policy without one
  std::span<const int> split_after;
};

/// The unit in which a framework's own flag counts its cap; none where it has no such flag.
enum class CapUnit { none, mib, bytes, elements };
/// Where a framework divides by the number of ranks.
enum class Mean { before_sum, after_sum };
/// Where a bucket lies while it is reduced: each in a buffer of its own, or all in turn in one
/// fusion buffer, while a tensor (or part) that travels alone is reduced where its gradient lies.
enum class Staging { own_buffers, fusion_buffer };

struct BucketPolicy {
  std::string_view name;
  std::string_view rule;  // one line for listings
  std::vector<Bucket> (*plan)(const BucketRequest& request);
  Mean mean = Mean::after_sum;
  Staging staging = Staging::own_buffers;
  Bytes (*standard)(int ranks, Dtype dtype) = nullptr;  // the default cap; null = there is no cap
  CapUnit unit = CapUnit::none;
  std::string_view flag = "";  // to paste, with {} for the cap; empty if nothing can be set
};

[[nodiscard]] std::span<const BucketPolicy> bucket_policies();
/// Throws Error{usage} with a did-you-mean for an unknown name.
[[nodiscard]] const BucketPolicy& bucket_policy(std::string_view name);

/// The buckets in the order in which they are sent. Throws Error{usage} for an empty list, a cap
/// that is zero, negative, less than an element, or meant for a policy that has none, and for split
/// indices that are out of range, not ascending, or meant for another policy.
[[nodiscard]] std::vector<Bucket> plan_buckets(const BucketPolicy& policy,
                                               std::span<const Tensor> tensors,
                                               const BucketConfig& config = {});

/// The cap that the plan follows for tensors of `dtype`: the configured one, or the framework's
/// default. Empty for a policy without one.
[[nodiscard]] std::optional<Bytes> cap_in_force(const BucketPolicy& policy,
                                                const BucketConfig& config, Dtype dtype);

/// `bucket_cap_mb=25`, ready to paste; empty where the framework has nothing to set.
[[nodiscard]] std::string flag_to_paste(const BucketPolicy& policy, Bytes cap, Dtype dtype);

[[nodiscard]] std::string_view name(Mean mean);

}  // namespace collmark
