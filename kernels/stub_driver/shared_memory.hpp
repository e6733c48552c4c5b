/// Memory of the stub's devices that other processes can open, as CUDA IPC does. A file without a name, mapped by all; flags
/// in it work from process to process.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/driver_abi.hpp"

namespace collmark::stub {

/// Allocations of whole blocks are shared ones. Others lie on the heap, where AddressSanitizer watches their ends, and cannot
/// be exported.
inline constexpr std::size_t kSharedBlock = std::size_t{2} << 20;  // [bytes]

class SharedMemory {
 public:
  /// Null if there is no room.
  [[nodiscard]] static std::unique_ptr<SharedMemory> create(std::size_t bytes);
  /// What another process has exported; null if it is not there any more.
  [[nodiscard]] static std::unique_ptr<SharedMemory> open(const cu::IpcHandle& handle);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] cu::IpcHandle handle() const;
  /// By so many other processes.
  [[nodiscard]] int opened() const;

 private:
  enum class Role { owner, guest };
  SharedMemory(int file, std::byte* data, std::size_t bytes, Role role)
      : file_(file), data_(data), bytes_(bytes), role_(role) {}
  [[nodiscard]] static std::byte* mapped(int file, std::size_t bytes);
  [[nodiscard]] int& guests() const;

  int file_;
  std::byte* data_;
  std::size_t bytes_;
  Role role_;
};

}  // namespace collmark::stub
