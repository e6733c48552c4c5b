/// What carries messages between ranks: MPI, sockets, or queues in a test.
#pragma once

#include <cstddef>
#include <span>

namespace collmark {

/// A run of bytes in this rank's memory.
struct Extent {
  std::byte* data = nullptr;
  std::size_t size = 0;  // [bytes]
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Which segment of which message: what a wire is given with a segment and gives back when it is done.
struct Ticket {
  enum class Way : unsigned char { out, in };
  Way way = Way::out;
  int message = 0;  // of the operation, counted by way
  int segment = 0;
};

struct Completed {
  Ticket ticket;
  std::size_t bytes = 0;  // that really moved
};

/// Between two ranks, segments arrive in the order in which they are sent and meet the receives in the order
/// in which those are posted. They may complete in any order. Nothing here blocks. Failures are thrown
/// as Error{lost}.
class Wire {
 public:
  virtual ~Wire() = default;

  /// Makes memory known before the first operation, so that nothing but posting is left for later. The
  /// pieces are one segment, in this order; they stay where they are for the life of the wire.
  [[nodiscard]] virtual int prepare(std::span<const Extent> pieces) = 0;

  /// `segment` as prepare() named it. Its memory is the wire's until the ticket comes back.
  virtual void send(int peer, int segment, const Ticket& ticket) = 0;
  virtual void receive(int peer, int segment, const Ticket& ticket) = 0;

  /// What has completed since the last call; valid until the next one.
  [[nodiscard]] virtual std::span<const Completed> poll() = 0;
};

}  // namespace collmark
