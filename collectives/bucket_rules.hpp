/// The fusing rule of each framework, as a planner of bucket.hpp. Call them through `plan_buckets`,
/// which checks the configuration first. Sources: docs/bucket-policies.md.
#pragma once

#include "collectives/bucket.hpp"

namespace collmark::bucket_rules {

using Tensors = std::span<const Tensor>;
using Buckets = std::vector<Bucket>;

[[nodiscard]] Buckets per_tensor(const BucketRequest& request);
[[nodiscard]] Buckets ddp(const BucketRequest& request);
[[nodiscard]] Buckets ddp_explicit_cap(const BucketRequest& request);
[[nodiscard]] Buckets ddp_find_unused(const BucketRequest& request);
[[nodiscard]] Buckets horovod(const BucketRequest& request);
[[nodiscard]] Buckets horovod_bounded(const BucketRequest& request);
[[nodiscard]] Buckets megatron(const BucketRequest& request);
[[nodiscard]] Buckets deepspeed(const BucketRequest& request);
[[nodiscard]] Buckets mindspore_size(const BucketRequest& request);
[[nodiscard]] Buckets mindspore_index(const BucketRequest& request);
[[nodiscard]] Buckets byteps(const BucketRequest& request);
[[nodiscard]] Buckets single(const BucketRequest& request);

}  // namespace collmark::bucket_rules
