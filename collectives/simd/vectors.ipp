// Vectors of kVectorBytes, in the lane types that the passes need. Included inside the namespace of
// one instruction set, so that nothing here is shared with code compiled for another.

typedef float F32Lanes __attribute__((vector_size(kVectorBytes)));
typedef double F64Lanes __attribute__((vector_size(kVectorBytes)));
typedef std::uint8_t U8Lanes __attribute__((vector_size(kVectorBytes)));
typedef std::int32_t I32Lanes __attribute__((vector_size(kVectorBytes)));
typedef std::uint32_t U32Lanes __attribute__((vector_size(kVectorBytes)));
typedef std::int64_t I64Lanes __attribute__((vector_size(kVectorBytes)));
typedef std::uint64_t U64Lanes __attribute__((vector_size(kVectorBytes)));
// f16 and bf16 are computed in f32: as many lanes, half the bytes.
typedef std::uint16_t HalfLanes __attribute__((vector_size(kVectorBytes / 2)));
