/// Gradients into a bucket and back, one launch for all tensors of it.
///
///   tensors   | a a a a a |   | b |   | c c c c c c c |         anywhere, of any size
///                  \           |           /
///   bucket    [ a a a a a | b | c c c c c c c ]                 packed in list order
///   blocks      0 0 0 | 1 1 1 | 2 2 2 | 3 3 3 |                 each its share of the bucket, wherever tensors end
///
/// The share is one of bytes, not of tensors: of the 161 tensors of a ResNet-50 the largest is 36,864 times the
/// smallest. A part that lies in the bucket as in its tensor, within 16 bytes, is moved in packs (pass.hpp).
///
///   Bytes     S loads and S stores for a bucket of S bytes; nothing where tensor and bucket are one.
#pragma once

#include "kernels/job.hpp"

namespace collmark {

/// One tensor, or a part of one, and its place in a bucket.
struct PackedPiece {
  std::byte* tensor = nullptr;
  std::byte* packed = nullptr;  // may be the tensor itself: then it is only divided
  std::int64_t offset = 0;      // elements of the pieces before it in the list
  std::int64_t count = 0;       // elements
};

/// One launch; may hold the buckets of several ranks, one after the other.
struct Packing {
  const PackedPiece* pieces = nullptr;
  int size = 0;                // of the list
  const int* first = nullptr;  // [block]: a piece at or before the beginning of its share
  int blocks = 1;              // of the launch
  std::int64_t count = 0;      // elements of all pieces
  int divisor = 1;             // of a mean that is taken on the way
};

/// move(in the tensor, in the bucket, elements) for all that is this block's share.
template <class T, class Move>
COLLMARK_DEVICE void for_each_part(const Packing& what, Move move) {
  const Part mine = share({0, what.count}, block_index(), what.blocks, Pack<T>::kSize);
  const std::int64_t end = mine.offset + mine.count;
  for (int i = what.first[block_index()]; i < what.size && what.pieces[i].offset < end; ++i) {
    const PackedPiece piece = what.pieces[i];
    const std::int64_t behind = piece.offset + piece.count;
    const std::int64_t from = piece.offset > mine.offset ? piece.offset : mine.offset;
    const std::int64_t to = behind < end ? behind : end;
    const std::int64_t skipped = from - piece.offset;
    if (from < to)
      move(reinterpret_cast<T*>(piece.tensor) + skipped,
           reinterpret_cast<T*>(piece.packed) + skipped, to - from);
  }
}

/// Copies a run of elements, and divides it on the way.
template <class T>
COLLMARK_DEVICE void copy_part(const T* from, T* to, std::int64_t count, int divisor) {
  if (from == to && divisor == 1) return;
  pass<T>(Few<const T, 1>{{from}}, Few<T, 1>{{to}}, count, {.divisor = divisor > 1 ? divisor : 0},
          Value::complete);
}

template <class T>
COLLMARK_KERNEL void pack_bucket(const Packing& what) {
  for_each_part<T>(what, [&](T* tensor, T* packed, std::int64_t count) {
    copy_part(tensor, packed, count, what.divisor);
  });
}

template <class T>
COLLMARK_KERNEL void unpack_bucket(const Packing& what) {
  for_each_part<T>(what, [&](T* tensor, T* packed, std::int64_t count) {
    copy_part(packed, tensor, count, what.divisor);
  });
}

}  // namespace collmark
