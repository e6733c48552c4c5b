#include "collectives/pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace collmark {
namespace {

constexpr std::size_t kHuge = std::size_t{2}
                              << 20;  // [bytes], x86-64 and arm64 with 4 KiB base pages

}  // namespace

std::string_view name(PagePolicy policy) {
  switch (policy) {
    case PagePolicy::huge:
      return "huge";
    case PagePolicy::small:
      return "small";
    case PagePolicy::standard:
      break;
  }
  return "standard";
}

PageBuffer::PageBuffer(Bytes size, PagePolicy policy) : size_(size) {
  if (size.value == 0) return;
  const auto wanted = static_cast<std::size_t>(size.value);
  const std::size_t slack = wanted >= kHuge ? kHuge : 0;  // room to align
  void* mapping =
      mmap(nullptr, wanted + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = mapping;
  mapped_ = wanted + slack;
  data_ = static_cast<std::byte*>(mapping);
  if (slack > 0) data_ += (kHuge - reinterpret_cast<std::uintptr_t>(data_) % kHuge) % kHuge;
  // Advice only: a kernel without huge pages says no and the buffer works all the same.
  if (policy == PagePolicy::huge) madvise(mapping_, mapped_, MADV_HUGEPAGE);
  if (policy == PagePolicy::small) madvise(mapping_, mapped_, MADV_NOHUGEPAGE);
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept { *this = std::move(other); }

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PageBuffer::~PageBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace collmark
