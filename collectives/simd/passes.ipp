// The passes themselves: any number of sources and destinations, any count, any alignment.
//
//   |head|  block  |  block  | ... |v|v|tail|      a block is a few vectors of each source, all
//                                                  loaded before the first store
//
// Blocks are four vectors, and one cache line when streaming: from memory, going round the buffers in
// small steps is faster (four sources and destinations, AVX-512, one core: 44
// against 34 GB/s).

// How a vector meets memory. Partial vectors go through a zeroed register.
struct Cached {
  template <class V>
  static V load(const std::byte* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  template <class V>
  static void store(std::byte* to, V v) {
    __builtin_memcpy(to, &v, sizeof v);
  }
};
struct Streamed : Cached {
  template <class V>
  static void store(std::byte* to, V v) {
    stream(to, v);
  }
};
struct Partial {
  std::size_t bytes;
  template <class V>
  V load(const std::byte* from) const {
    V v{};
    __builtin_memcpy(&v, from, bytes);
    return v;
  }
  template <class V>
  void store(std::byte* to, V v) const {
    __builtin_memcpy(to, &v, bytes);
  }
};

struct Buffers {
  const std::byte* const* source;
  std::byte* const* destination;
  std::size_t sources;
  std::size_t destinations;
};

constexpr std::size_t kLine = 64;  // [bytes], what a non-temporal store should fill

template <class Type, class Op>
struct Pass {
  using Raw = typename Type::Raw;
  static constexpr std::size_t kPerLine = kLine / sizeof(Raw);  // [vectors]

  static Raw combine(Raw a, Raw b) {
    return Type::narrowed(Op::template apply<Type>(Type::widened(a), Type::widened(b)));
  }

  template <std::size_t kVectors, class Access>
  static void vectors(const Buffers& b, std::size_t at, Access access) {
    Raw sum[kVectors];
    const std::byte* const first = b.source[0] + at;
    for (std::size_t i = 0; i < kVectors; ++i)
      sum[i] = access.template load<Raw>(first + i * sizeof(Raw));
    for (std::size_t k = 1; k < b.sources; ++k) {
      const std::byte* const from = b.source[k] + at;
      for (std::size_t i = 0; i < kVectors; ++i)
        sum[i] = combine(sum[i], access.template load<Raw>(from + i * sizeof(Raw)));
    }
    for (std::size_t m = 0; m < b.destinations; ++m) {
      std::byte* const to = b.destination[m] + at;
      for (std::size_t i = 0; i < kVectors; ++i) access.store(to + i * sizeof(Raw), sum[i]);
    }
  }

  /// Bytes [at, end), as far as whole blocks go; returns where they end.
  template <std::size_t kVectors, class Access>
  static std::size_t blocks(const Buffers& b, std::size_t at, std::size_t end, Access access) {
    constexpr std::size_t kBlock = kVectors * sizeof(Raw);  // [bytes]
    for (; end - at >= kBlock; at += kBlock) vectors<kVectors>(b, at, access);
    return at;
  }

  static std::size_t cached(const Buffers& b, std::size_t at, std::size_t end) {
    at = blocks<4>(b, at, end, Cached{});
    for (; end - at >= sizeof(Raw); at += sizeof(Raw)) vectors<1>(b, at, Cached{});
    if (at == end) return at;
    vectors<1>(b, at, Partial{end - at});
    return end;
  }

  static std::size_t streamed(const Buffers& b, std::size_t bytes) {
    const std::size_t head = until_aligned(b);
    if (head >= bytes) return cached(b, 0, bytes);
    cached(b, 0, head);
    return cached(b, blocks<kPerLine>(b, head, bytes, Streamed{}), bytes);
  }

  /// Bytes before the first cache line border that all destinations reach together, between two
  /// elements; all of them if there is none.
  static std::size_t until_aligned(const Buffers& b) {
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(b.destination[0]) % kLine;
    if (head % Type::kElementBytes != 0) return SIZE_MAX;
    for (std::size_t m = 1; m < b.destinations; ++m)
      if (-reinterpret_cast<std::uintptr_t>(b.destination[m]) % kLine != head) return SIZE_MAX;
    return head;
  }

  /// Returns the bytes stored to each destination.
  static std::size_t run(const Buffers& b, std::size_t bytes, Stores stores) {
    if (bytes == 0) return 0;
    return stores == Stores::streaming ? streamed(b, bytes) : cached(b, 0, bytes);
  }
};

/// One source: bytes, whatever they mean.
using Copying = Pass<U8, Sum>;

template <class Type, class Op>
std::size_t reduce(std::span<const std::byte* const> sources,
                   std::span<std::byte* const> destinations, std::size_t count, Stores stores) {
  const Buffers b{sources.data(), destinations.data(), sources.size(), destinations.size()};
  const std::size_t bytes = count * Type::kElementBytes;
  const std::size_t moved =
      b.sources == 1 ? Copying::run(b, bytes, stores) : Pass<Type, Op>::run(b, bytes, stores);
  return moved / Type::kElementBytes;
}

template <class Type>
void average(std::byte* buffer, std::size_t count, int divisor) {
  using Raw = typename Type::Raw;
  const std::size_t bytes = count * Type::kElementBytes;
  const auto at_once = [&](std::byte* at, auto access) {
    const Raw x = access.template load<Raw>(at);
    access.store(at, Type::narrowed(Type::average(Type::widened(x), divisor)));
  };
  std::size_t at = 0;
  for (; bytes - at >= sizeof(Raw); at += sizeof(Raw)) at_once(buffer + at, Cached{});
  if (at < bytes) at_once(buffer + at, Partial{bytes - at});
}

template <class Type>
constexpr void fill(PassTable& table, Dtype dtype) {
  const int row = static_cast<int>(dtype);
  ReducePass* const passes = table.reduce[row];
  passes[static_cast<int>(ReduceOp::sum)] = reduce<Type, Sum>;
  passes[static_cast<int>(ReduceOp::prod)] = reduce<Type, Prod>;
  passes[static_cast<int>(ReduceOp::min)] = reduce<Type, Min>;
  passes[static_cast<int>(ReduceOp::max)] = reduce<Type, Max>;
  passes[static_cast<int>(ReduceOp::avg)] = reduce<Type, Sum>;
  table.average[row] = average<Type>;
}

constexpr PassTable all_passes() {
  PassTable table{};
  fill<F32>(table, Dtype::f32);
  fill<F64>(table, Dtype::f64);
  fill<F16>(table, Dtype::f16);
  fill<Bf16>(table, Dtype::bf16);
  fill<I32>(table, Dtype::i32);
  fill<I64>(table, Dtype::i64);
  fill<U8>(table, Dtype::u8);
  return table;
}
