#include "collectives/bucket.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/bucket_rules.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

namespace rules = bucket_rules;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// A default cap that depends on nothing.
template <std::int64_t kBytes>
Bytes fixed(int /*ranks*/, Dtype /*dtype*/) {
  return {kBytes};
}

Bytes of_elements(std::int64_t count, Dtype dtype) {
  return {count * static_cast<std::int64_t>(size_of(dtype))};
}

Bytes megatron_standard(int ranks, Dtype dtype) {
  return of_elements(std::max<std::int64_t>(40'000'000, std::int64_t{1'000'000} * ranks), dtype);
}

Bytes deepspeed_standard(int /*ranks*/, Dtype dtype) { return of_elements(500'000'000, dtype); }

constexpr std::array kPolicies{
    BucketPolicy{.name = "per_tensor",
                 .rule = "one all-reduce per tensor, registration order",
                 .plan = rules::per_tensor,
                 .staging = Staging::fusion_buffer},
    BucketPolicy{.name = "ddp",
                 .rule = "backward order; add, then close at the limit: 1 MiB, then the cap",
                 .plan = rules::ddp,
                 .mean = Mean::before_sum,
                 .standard = fixed<25 * kMiB>,
                 .unit = CapUnit::mib,
                 .flag = "bucket_cap_mb={}"},
    BucketPolicy{.name = "ddp_explicit_cap",
                 .rule = "as ddp, the cap replaces the first limit too",
                 .plan = rules::ddp_explicit_cap,
                 .mean = Mean::before_sum,
                 .standard = fixed<25 * kMiB>,
                 .unit = CapUnit::mib,
                 .flag = "bucket_cap_mb={}"},
    BucketPolicy{.name = "ddp_find_unused",
                 .rule = "ddp's rule in registration order; sent last bucket first",
                 .plan = rules::ddp_find_unused,
                 .mean = Mean::before_sum,
                 .standard = fixed<25 * kMiB>,
                 .unit = CapUnit::mib,
                 .flag = "find_unused_parameters=True, bucket_cap_mb={}"},
    BucketPolicy{.name = "horovod",
                 .rule = "backward order; fuse all that fits, looking past what does not",
                 .plan = rules::horovod,
                 .staging = Staging::fusion_buffer,
                 .standard = fixed<128 * kMiB>,
                 .unit = CapUnit::bytes,
                 .flag = "HOROVOD_FUSION_THRESHOLD={}"},
    BucketPolicy{.name = "horovod_bounded",
                 .rule = "as horovod, but what is passed over must fit as well",
                 .plan = rules::horovod_bounded,
                 .staging = Staging::fusion_buffer,
                 .standard = fixed<128 * kMiB>,
                 .unit = CapUnit::bytes,
                 .flag = "HOROVOD_FUSION_THRESHOLD={}"},
    BucketPolicy{.name = "megatron",
                 .rule = "backward order; add, then close at the cap in elements",
                 .plan = rules::megatron,
                 .mean = Mean::before_sum,
                 .standard = megatron_standard,
                 .unit = CapUnit::elements,
                 .flag = "--ddp-bucket-size {}"},
    BucketPolicy{.name = "deepspeed",
                 .rule = "backward order; flush before a tensor that would exceed the cap",
                 .plan = rules::deepspeed,
                 .staging = Staging::fusion_buffer,
                 .standard = deepspeed_standard,
                 .unit = CapUnit::elements,
                 .flag = R"("reduce_bucket_size": {})"},
    BucketPolicy{.name = "mindspore_auto",
                 .rule = "as mindspore_size, always at 64 MiB",
                 .plan = rules::mindspore_size,
                 .standard = fixed<64 * kMiB>,
                 .flag = R"(comm_fusion={{"allreduce": {{"mode": "auto", "config": None}}}})"},
    BucketPolicy{.name = "mindspore_size",
                 .rule = "registration order; close above the cap; sent last bucket first",
                 .plan = rules::mindspore_size,
                 .standard = fixed<64 * kMiB>,
                 .unit = CapUnit::mib,
                 .flag = R"(comm_fusion={{"allreduce": {{"mode": "size", "config": {}}}}})"},
    BucketPolicy{.name = "mindspore_index",
                 .rule = "split after given tensors, one bucket without any; last bucket first",
                 .plan = rules::mindspore_index},
    BucketPolicy{.name = "byteps",
                 .rule = "each tensor cut into parts of the cap; front layers first",
                 .plan = rules::byteps,
                 .staging = Staging::fusion_buffer,
                 .standard = fixed<4'096'000>,
                 .unit = CapUnit::bytes,
                 .flag = "BYTEPS_PARTITION_BYTES={}"},
    BucketPolicy{.name = "single", .rule = "everything in one message", .plan = rules::single},
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

void check_cap(const BucketPolicy& policy, std::span<const Tensor> tensors,
               const BucketConfig& config) {
  if (!config.cap) return;
  if (policy.unit == CapUnit::none)
    refuse(fmt::format("bucket policy {} has no cap to set, got {} bytes", policy.name,
                       config.cap->value));
  for (const Tensor& t : tensors)
    if (config.cap->value < static_cast<std::int64_t>(size_of(t.dtype)))
      refuse(fmt::format("bucket cap of {} bytes: expected at least one {} element, {} bytes",
                         config.cap->value, name(t.dtype), size_of(t.dtype)));
}

void check_splits(const BucketPolicy& policy, std::size_t tensors, const BucketConfig& config) {
  if (config.split_after.empty()) return;
  if (policy.plan != rules::mindspore_index)
    refuse(fmt::format("split indices belong to mindspore_index, not to {}", policy.name));
  int previous = -1;
  for (const int index : config.split_after) {
    if (index <= previous)
      refuse(fmt::format("split index {} after {}: expected ascending tensor indices", index,
                         previous));
    if (static_cast<std::size_t>(index) >= tensors)
      refuse(fmt::format("split index {}: expected 0 to {}, the list has {} tensors", index,
                         tensors - 1, tensors));
    previous = index;
  }
}

}  // namespace

std::span<const BucketPolicy> bucket_policies() { return kPolicies; }

const BucketPolicy& bucket_policy(std::string_view name) {
  std::vector<std::string> names;
  for (const BucketPolicy& policy : kPolicies) {
    if (policy.name == name) return policy;
    names.emplace_back(policy.name);
  }
  refuse(fmt::format("unknown bucket policy '{}'{}; there are: {}", name, did_you_mean(name, names),
                     fmt::join(names, ", ")));
}

std::vector<Bucket> plan_buckets(const BucketPolicy& policy, std::span<const Tensor> tensors,
                                 const BucketConfig& config) {
  if (tensors.empty()) refuse("no tensors to put into buckets");
  if (config.ranks < 1) refuse(fmt::format("data-parallel size {}: expected >= 1", config.ranks));
  check_cap(policy, tensors, config);
  check_splits(policy, tensors.size(), config);
  BucketRequest request{.tensors = tensors, .cap = {}, .split_after = config.split_after};
  if (policy.standard != nullptr)
    request.cap = [&](Dtype dtype) { return *cap_in_force(policy, config, dtype); };
  return policy.plan(request);
}

std::optional<Bytes> cap_in_force(const BucketPolicy& policy, const BucketConfig& config,
                                  Dtype dtype) {
  if (policy.standard == nullptr) return std::nullopt;
  if (!config.cap) return policy.standard(config.ranks, dtype);
  if (policy.unit != CapUnit::elements) return config.cap;
  return of_elements(config.cap->value / static_cast<std::int64_t>(size_of(dtype)), dtype);
}

std::string flag_to_paste(const BucketPolicy& policy, Bytes cap, Dtype dtype) {
  switch (policy.unit) {
    case CapUnit::none:
    case CapUnit::bytes:
      return fmt::format(fmt::runtime(policy.flag), cap.value);
    case CapUnit::mib:
      return fmt::format(fmt::runtime(policy.flag),
                         fmt::format("{:.6g}", static_cast<double>(cap.value) / kMiB));
    case CapUnit::elements:
      return fmt::format(fmt::runtime(policy.flag),
                         cap.value / static_cast<std::int64_t>(size_of(dtype)));
  }
  return "";
}

std::string_view name(Mean mean) { return mean == Mean::before_sum ? "before_sum" : "after_sum"; }

}  // namespace collmark
