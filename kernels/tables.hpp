/// Lists that a kernel follows pointers into, laid out here in host memory for the place where they will lie.
///
///   std::size_t size = filled(nullptr).bytes().size();      once without a place, for the size
///   Tables tables = filled(device_memory);                  then with it, and copied there whole
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace collmark {

class Tables {
 public:
  /// `base`: the first byte of their place, aligned to 16; null while only the size is asked for.
  explicit Tables(std::byte* base) : base_(base) {}

  /// Where the list will lie; null while only the size is asked for.
  template <class T>
  const T* add(const std::vector<T>& list) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t begin = bytes_.size(), size = list.size() * sizeof(T);
    bytes_.resize((begin + size + 15) / 16 * 16);
    if (size > 0) std::memcpy(bytes_.data() + begin, list.data(), size);
    return base_ == nullptr ? nullptr : reinterpret_cast<const T*>(base_ + begin);
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::byte* base_;
  std::vector<std::byte> bytes_;
};

}  // namespace collmark
