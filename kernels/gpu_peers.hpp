/// Processes of one host, each with a rank of one collective and a GPU of its own.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace collmark {

/// All call the same functions in the same order.
class GpuPeers {
 public:
  GpuPeers() = default;
  virtual ~GpuPeers() = default;
  GpuPeers(const GpuPeers&) = delete;
  GpuPeers& operator=(const GpuPeers&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// Everybody's bytes in rank order; the same size from each.
  [[nodiscard]] virtual std::vector<std::byte> all_gather(std::span<const std::byte> mine) = 0;

  /// [rank]
  template <class T>
  [[nodiscard]] std::vector<T> all_of(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::vector<std::byte> bytes = all_gather(std::as_bytes(std::span<const T, 1>(&mine, 1)));
    std::vector<T> all(bytes.size() / sizeof(T));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  void barrier() { (void)all_of('.'); }

  /// Does its own `step` and waits for the others'.
  ///   Throws   Unsupported at every rank, with the words of the first, if one cannot (it threw Unsupported or
  ///            std::bad_alloc). Anything else is this rank's own trouble, and it is out of step.
  void together(const std::function<void()>& step);
  /// Still waits for nobody in vain.
  [[nodiscard]] bool in_step() const { return in_step_; }

 private:
  bool in_step_ = true;
};

}  // namespace collmark
