#include "bench/element.hpp"

#include <cstdint>
#include <cstring>

#include "collectives/half.hpp"

namespace collmark {
namespace {

template <class T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

void store_exact(double value, Dtype dtype, std::byte* to) {
  const auto narrow = static_cast<float>(value);
  switch (dtype) {
    case Dtype::f32:
      return store(narrow, to);
    case Dtype::f64:
      return store(value, to);
    case Dtype::f16:
      return store(to_f16(narrow).bits, to);
    case Dtype::bf16:
      return store(to_bf16(narrow).bits, to);
    case Dtype::i32:
      return store(static_cast<std::int32_t>(value), to);
    case Dtype::i64:
      return store(static_cast<std::int64_t>(value), to);
    case Dtype::u8:
      return store(static_cast<std::uint8_t>(value), to);
  }
}

double load(const std::byte* from, Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return static_cast<double>(get<float>(from));
    case Dtype::f64:
      return get<double>(from);
    case Dtype::f16:
      return static_cast<double>(to_float(F16{get<std::uint16_t>(from)}));
    case Dtype::bf16:
      return static_cast<double>(to_float(Bf16{get<std::uint16_t>(from)}));
    case Dtype::i32:
      return get<std::int32_t>(from);
    case Dtype::i64:
      return static_cast<double>(get<std::int64_t>(from));
    case Dtype::u8:
      return get<std::uint8_t>(from);
  }
  return 0.0;
}

}  // namespace collmark
