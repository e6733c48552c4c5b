/// Memory for collectives: zeroed pages, 2 MiB-aligned from 2 MiB up so that the kernel can use
/// huge pages.
#pragma once

#include <cstddef>
#include <string_view>

#include "collectives/units.hpp"

namespace collmark {

/// huge asks for transparent huge pages (madvise), small forbids them, standard leaves it to the
/// system.
enum class PagePolicy { standard, huge, small };
[[nodiscard]] std::string_view name(PagePolicy policy);

/// Owns one private anonymous mapping. Pages are placed when first touched: touch them on the rank
/// that uses them. Throws std::bad_alloc.
class PageBuffer {
 public:
  PageBuffer() = default;
  explicit PageBuffer(Bytes size, PagePolicy policy = PagePolicy::huge);
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;
  ~PageBuffer();

  [[nodiscard]] std::byte* data() const { return data_; }  // 64-byte aligned; null when empty
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;  // [bytes]
  std::byte* data_ = nullptr;
  Bytes size_;
};

}  // namespace collmark
