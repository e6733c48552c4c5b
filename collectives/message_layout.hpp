/// A rank's messages as bytes: where each lies in memory, how it is cut, and what may be merged when.
///
///   message    [ chunk 2 ......... | chunk 3 ......... | chunk 4 ...]      parcels, in list order
///   segments   [  0  ][  1  ][  2  ][  3  ][  4  ][  5  ][  6  ][  7]      travel one by one
///   staging    slot 0   1      2      0      1      2      0 ...           a window of them, used again
///
/// While one segment is reduced the next are on their way, and the staging is small enough to stay in cache.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/messages.hpp"
#include "collectives/pages.hpp"
#include "collectives/partition.hpp"
#include "collectives/rank_buffers.hpp"
#include "collectives/reference.hpp"
#include "collectives/wire.hpp"

namespace collmark {

struct SegmentOptions {
  Bytes reduced{std::int64_t{256} * 1024};  // of a message that is reduced, at most
  Bytes copied{std::int64_t{1} << 30};      // of a message that only lands: nothing to overlap with
  int window = 2;                           // segments of a message that are on their way at once
};

/// What a rank's operation works on.
struct MessageData {
  Payload payload;
  RankBuffers buffers;
};

/// A parcel within its message.
struct StagedParcel {
  std::size_t begin = 0, end = 0;  // [bytes] of the message
  int merge = kNone;               // of the step: reads it (received) or overwrites it (sent)
};

struct Stream {
  int peer = 0;
  std::size_t size = 0;                            // [bytes] of the whole message
  std::size_t segment = 1;                         // [bytes] of all but the last
  int window = 1;                                  // segments posted at once, at most
  std::byte* staging = nullptr;                    // `window` segments
  std::vector<StagedParcel> stretches = {};        // in order
  std::vector<std::vector<Extent>> segments = {};  // at least one, empty or not

  [[nodiscard]] std::byte* staged(std::size_t position) const {
    return staging + position / segment % static_cast<std::size_t>(window) * segment +
           position % segment;
  }
  /// Where the first `count` segments end [bytes].
  [[nodiscard]] std::size_t end_of(int count) const;
};

/// A value that a merge reads: own memory, or a stretch of a received stream.
struct Input {
  const std::byte* own = nullptr;
  int stream = kNone;     // of the step's receives
  std::size_t begin = 0;  // [bytes] of that stream
};

struct ByteMerge {
  std::byte* to = nullptr;
  std::size_t size = 0;            // [bytes]
  std::vector<Input> inputs = {};  // in reduction order
  std::vector<Input> behind = {};  // streams of the step's *sends*: it stays behind their heads
  [[nodiscard]] bool waits() const;
};

struct ByteStep {
  int step = 0;
  int sends_before = 0;  // see MessageStep
  std::vector<Stream> sends = {}, receives = {};
  std::vector<ByteMerge> merges = {};
};

/// Owns what a rank needs besides its buffers: scratch places and staging.
class MessageLayout {
 public:
  /// Throws Error{usage} for segments below 8 bytes or above 1 GiB, or a window below 1.
  MessageLayout(const Schedule& s, const MessageProgram& program, const MessageData& data,
                const SegmentOptions& options);

  [[nodiscard]] const std::vector<ByteStep>& steps() const { return steps_; }
  [[nodiscard]] Bytes scratch() const { return scratch_.size() + spare_.size() + staging_.size(); }

 private:
  class Builder;

  std::vector<ByteStep> steps_;
  PageBuffer scratch_, spare_, staging_;
};

}  // namespace collmark
