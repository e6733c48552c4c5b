#include "collectives/bucket_rules.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

namespace collmark::bucket_rules {
namespace {

std::vector<int> registration_order(Tensors tensors) {
  std::vector<int> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The order in which backward makes gradients ready.
std::vector<int> backward_order(Tensors tensors) {
  std::vector<int> order = registration_order(tensors);
  std::reverse(order.begin(), order.end());
  return order;
}

void append(Bucket& bucket, Tensors tensors, int tensor) {
  const Tensor& t = tensors[static_cast<std::size_t>(tensor)];
  bucket.dtype = t.dtype;
  bucket.count += t.count;
  bucket.pieces.push_back({.tensor = tensor, .offset = {0}, .count = t.count});
}

/// Buckets being filled, one open per dtype.
class Filling {
 public:
  explicit Filling(Tensors tensors) : tensors_(tensors) {}

  /// The bucket that the next tensor of this dtype would join.
  [[nodiscard]] const Bucket& open(Dtype dtype) { return lane(dtype).open; }
  /// How many buckets of this dtype are closed.
  [[nodiscard]] int closed(Dtype dtype) { return lane(dtype).closed; }
  /// Adds the tensor to its dtype's open bucket and returns that bucket.
  const Bucket& add(int tensor) {
    Bucket& bucket = lane(tensors_[static_cast<std::size_t>(tensor)].dtype).open;
    append(bucket, tensors_, tensor);
    return bucket;
  }
  void close(Dtype dtype) {
    Lane& l = lane(dtype);
    if (l.open.pieces.empty()) return;
    done_.push_back(std::exchange(l.open, Bucket{.dtype = dtype}));
    ++l.closed;
  }
  /// In the order in which the dtypes first came.
  void close_all() {
    for (const Lane& some : lanes_) close(some.open.dtype);
  }
  [[nodiscard]] Buckets finish() {
    close_all();
    return std::move(done_);
  }

 private:
  struct Lane {
    Bucket open;
    int closed = 0;
  };
  Lane& lane(Dtype dtype) {
    for (Lane& l : lanes_)
      if (l.open.dtype == dtype) return l;
    return lanes_.emplace_back(Lane{.open = {.dtype = dtype}});
  }

  Tensors tensors_;
  std::vector<Lane> lanes_;
  Buckets done_;
};

/// Adds every tensor, then closes its bucket if `is_full(bucket, buckets closed before it)`.
template <class IsFull>
Buckets close_after(Tensors tensors, const std::vector<int>& order, IsFull is_full) {
  Filling filling(tensors);
  for (const int t : order) {
    const Bucket& bucket = filling.add(t);
    if (is_full(bucket, filling.closed(bucket.dtype))) filling.close(bucket.dtype);
  }
  return filling.finish();
}

/// DDP's two limits: a small first bucket, so that communication starts early, then the cap.
auto ddp_limits(const BucketRequest& request) {
  return [&request](const Bucket& bucket, int closed) {
    constexpr Bytes kFirst{1 << 20};
    return bucket.bytes() >= (closed == 0 ? kFirst : request.cap(bucket.dtype));
  };
}

auto cap_reached(const BucketRequest& request) {
  return
      [&request](const Bucket& bucket, int) { return bucket.bytes() >= request.cap(bucket.dtype); };
}

enum class LookAhead { to_the_end, up_to_threshold };

/// Takes the first waiting tensor, then all later ones of its dtype that still fit.
Buckets fuse_waiting(const BucketRequest& request, LookAhead look_ahead) {
  const Tensors tensors = request.tensors;
  const std::vector<int> order = backward_order(tensors);
  std::deque<int> waiting(order.begin(), order.end());
  Buckets buckets;
  while (!waiting.empty()) {
    Bucket bucket;
    append(bucket, tensors, waiting.front());
    waiting.pop_front();
    const Bytes threshold = request.cap(bucket.dtype);
    Bytes skipped{};
    for (auto it = waiting.begin(); it != waiting.end();) {
      const Tensor& t = tensors[static_cast<std::size_t>(*it)];
      if (t.dtype == bucket.dtype && bucket.bytes() + bytes_of(t) <= threshold) {
        append(bucket, tensors, *it);
        it = waiting.erase(it);
        continue;
      }
      skipped += bytes_of(t);
      if (look_ahead == LookAhead::up_to_threshold && bucket.bytes() + skipped > threshold) break;
      ++it;
    }
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

Buckets last_first(Buckets buckets) {
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

}  // namespace

Buckets per_tensor(const BucketRequest& request) {
  return close_after(request.tensors, registration_order(request.tensors),
                     [](const Bucket&, int) { return true; });
}

Buckets ddp(const BucketRequest& request) {
  return close_after(request.tensors, backward_order(request.tensors), ddp_limits(request));
}

Buckets ddp_explicit_cap(const BucketRequest& request) {
  return close_after(request.tensors, backward_order(request.tensors), cap_reached(request));
}

Buckets ddp_find_unused(const BucketRequest& request) {
  Buckets buckets =
      close_after(request.tensors, registration_order(request.tensors), ddp_limits(request));
  std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) {
    return a.pieces.front().tensor < b.pieces.front().tensor;
  });
  return last_first(std::move(buckets));
}

Buckets horovod(const BucketRequest& request) {
  return fuse_waiting(request, LookAhead::to_the_end);
}

Buckets horovod_bounded(const BucketRequest& request) {
  return fuse_waiting(request, LookAhead::up_to_threshold);
}

Buckets megatron(const BucketRequest& request) {
  return close_after(request.tensors, backward_order(request.tensors), cap_reached(request));
}

Buckets deepspeed(const BucketRequest& request) {
  Filling filling(request.tensors);
  for (const int i : backward_order(request.tensors)) {
    const Tensor& t = request.tensors[static_cast<std::size_t>(i)];
    if (filling.open(t.dtype).bytes() + bytes_of(t) > request.cap(t.dtype)) filling.close(t.dtype);
    filling.add(i);
  }
  return filling.finish();
}

Buckets mindspore_size(const BucketRequest& request) {
  return last_first(close_after(request.tensors, registration_order(request.tensors),
                                [&request](const Bucket& bucket, int) {
                                  return bucket.bytes() > request.cap(bucket.dtype);
                                }));
}

Buckets mindspore_index(const BucketRequest& request) {
  Filling filling(request.tensors);
  auto split = request.split_after.begin();
  for (const int i : registration_order(request.tensors)) {
    filling.add(i);
    if (split == request.split_after.end() || i != *split) continue;
    filling.close_all();
    ++split;
  }
  return last_first(filling.finish());
}

Buckets byteps(const BucketRequest& request) {
  Buckets buckets;
  for (const int i : registration_order(request.tensors)) {
    const Tensor& t = request.tensors[static_cast<std::size_t>(i)];
    const Elements part{request.cap(t.dtype).value / static_cast<std::int64_t>(size_of(t.dtype))};
    for (Elements offset{0}; offset < t.count; offset += part) {
      const Elements count = std::min(part, t.count - offset);
      buckets.push_back({.dtype = t.dtype,
                         .count = count,
                         .pieces = {{.tensor = i, .offset = offset, .count = count}}});
    }
  }
  return buckets;
}

Buckets single(const BucketRequest& request) {
  return close_after(request.tensors, registration_order(request.tensors),
                     [](const Bucket&, int) { return false; });
}

}  // namespace collmark::bucket_rules
