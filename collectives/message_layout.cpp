#include "collectives/message_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/index.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kGrain = 8;  // [bytes] the longest element: no segment cuts one in two
constexpr std::size_t kLine = 64;   // [bytes] of a cache: stagings start on one each
constexpr std::int64_t kLongest = std::int64_t{1} << 30;  // [bytes], so that an int counts them

std::size_t segment_size(Bytes wanted) {
  if (wanted.value < kGrain || wanted.value > kLongest)
    throw Error(ErrorKind::usage, fmt::format("a segment has {} to {} bytes, not {}", kGrain,
                                              kLongest, wanted.value));
  return at(wanted.value / kGrain * kGrain);
}

void add_piece(std::vector<Extent>& pieces, const Extent& next) {
  if (next.size == 0) return;
  if (!pieces.empty() && pieces.back().data + pieces.back().size == next.data)
    pieces.back().size += next.size;
  else
    pieces.push_back(next);
}

}  // namespace

std::size_t Stream::end_of(int count) const { return std::min(at(count) * segment, size); }

bool ByteMerge::waits() const {
  const auto received = [](const Input& i) { return i.stream != kNone; };
  return !behind.empty() || std::any_of(inputs.begin(), inputs.end(), received);
}

class MessageLayout::Builder {
 public:
  Builder(MessageLayout& layout, const Schedule& s, const MessageData& data,
          const SegmentOptions& options)
      : layout_(layout),
        part_(s, data.payload.count),
        buffers_(data.buffers),
        element_(size_of(data.payload.dtype)),
        blocks_(s.collective == Collective::all_to_all ? s.ranks : s.chunks),
        halves_(s.collective == Collective::all_to_all ? 2 : 1),
        reduced_(segment_size(options.reduced)),
        copied_(segment_size(options.copied)),
        window_(options.window) {
    if (window_ < 1)
      throw Error(ErrorKind::usage, fmt::format("a window of {} segments carries none", window_));
  }

  void build(const MessageProgram& program) {
    const std::size_t buffer = at(part_.count().value) * element_;
    const Bytes place{static_cast<std::int64_t>(halves_ * buffer)};
    if (program.uses_scratch) layout_.scratch_ = PageBuffer(place);
    if (program.uses_spare) layout_.spare_ = PageBuffer(place);

    std::size_t most = 0;  // [bytes] staged in one step; the next step uses the same memory
    for (const MessageStep& step : program.steps) {
      layout_.steps_.push_back(measure(step));
      std::size_t staged = 0;
      for (std::size_t i = 0; i < step.receives.size(); ++i)
        staged += staging(step.receives[i], layout_.steps_.back().receives[i]);
      most = std::max(most, staged);
    }
    layout_.staging_ = PageBuffer({static_cast<std::int64_t>(most)});
    for (std::size_t i = 0; i < program.steps.size(); ++i)
      locate(program.steps[i], layout_.steps_[i]);
  }

 private:
  /// Sizes and the order of things; no addresses yet.
  ByteStep measure(const MessageStep& step) {
    ByteStep bytes{.step = step.step, .sends_before = step.sends_before};
    for (const RankMessage& m : step.sends) bytes.sends.push_back(stream(m));
    for (const RankMessage& m : step.receives) bytes.receives.push_back(stream(m));
    for (const Merge& m : step.merges) bytes.merges.push_back(merge(m, step, bytes));
    for (Stream& s : bytes.receives)
      if (!in_step(s, bytes.merges)) s.window = static_cast<int>(s.segments.size());
    return bytes;
  }

  Stream stream(const RankMessage& m) {
    Stream s{.peer = m.peer, .segment = m.reduced ? reduced_ : copied_};
    for (const Parcel& p : m.parcels) {
      const std::size_t begin = s.size;
      s.size += std::min(length(p.slot.chunk), length(p.peer_chunk));
      s.stretches.push_back({.begin = begin, .end = s.size, .merge = p.merge});
    }
    s.segments.resize(std::max<std::size_t>(1, (s.size + s.segment - 1) / s.segment));
    s.window = static_cast<int>(std::min(s.segments.size(), at(window_)));
    return s;
  }

  ByteMerge merge(const Merge& m, const MessageStep& step, const ByteStep& bytes) {
    ByteMerge out{.size = length(m.to.chunk)};
    for (const Operand& o : m.operands) {
      const bool own = o.received.message == kNone;
      out.inputs.push_back(own ? Input{} : input(o.received, bytes.receives));
      const std::size_t size = own ? length(o.own.chunk)
                                   : length(step.receives[at(o.received.message)]
                                                .parcels[at(o.received.parcel)]
                                                .peer_chunk);
      out.size = std::min(out.size, size);
    }
    for (const ParcelIndex& sent : m.behind) out.behind.push_back(input(sent, bytes.sends));
    return out;
  }

  static Input input(const ParcelIndex& i, const std::vector<Stream>& streams) {
    return {.stream = i.message, .begin = streams[at(i.message)].stretches[at(i.parcel)].begin};
  }

  /// May its staging be a window? Only if whatever its merges wait for comes at the same position of every
  /// message: then the lowest position that is still missing anywhere is always under way. Otherwise two
  /// messages with the same chunks in different order would wait for each other's tail.
  static bool in_step(const Stream& s, const std::vector<ByteMerge>& merges) {
    const auto level = [&](const StagedParcel& x) {
      const auto same = [&](const Input& i) { return i.stream == kNone || i.begin == x.begin; };
      if (x.merge == kNone) return true;
      const ByteMerge& m = merges[at(x.merge)];
      return std::all_of(m.inputs.begin(), m.inputs.end(), same) &&
             std::all_of(m.behind.begin(), m.behind.end(), same);
    };
    return std::all_of(s.stretches.begin(), s.stretches.end(), level);
  }

  /// [bytes]; none if all of it lands in place.
  static std::size_t staging(const RankMessage& m, const Stream& s) {
    const auto staged = [](const Parcel& p) { return p.staged; };
    if (std::none_of(m.parcels.begin(), m.parcels.end(), staged)) return 0;
    const std::size_t bytes = std::min(at(s.window) * s.segment, s.size);
    return (bytes + kLine - 1) / kLine * kLine;
  }

  /// Addresses, once all memory is there.
  void locate(const MessageStep& step, ByteStep& bytes) {
    for (std::size_t i = 0; i < step.sends.size(); ++i) cut(step.sends[i], bytes.sends[i]);
    std::byte* next = layout_.staging_.data();
    for (std::size_t i = 0; i < step.receives.size(); ++i) {
      bytes.receives[i].staging = next;
      next += staging(step.receives[i], bytes.receives[i]);
      cut(step.receives[i], bytes.receives[i]);
    }
    for (std::size_t i = 0; i < step.merges.size(); ++i) {
      bytes.merges[i].to = address(step.merges[i].to);
      for (std::size_t k = 0; k < step.merges[i].operands.size(); ++k)
        if (bytes.merges[i].inputs[k].stream == kNone)
          bytes.merges[i].inputs[k].own = address(step.merges[i].operands[k].own);
    }
  }

  void cut(const RankMessage& m, Stream& s) {
    for (std::size_t p = 0; p < m.parcels.size(); ++p) {
      const StagedParcel& x = s.stretches[p];
      for (std::size_t first = x.begin, next = 0; first < x.end; first = next) {
        const std::size_t segment = first / s.segment;
        next = std::min(x.end, (segment + 1) * s.segment);
        std::byte* const data =
            m.parcels[p].staged ? s.staged(first) : address(m.parcels[p].slot) + (first - x.begin);
        add_piece(s.segments[segment], {.data = data, .size = next - first});
      }
    }
  }

  [[nodiscard]] std::size_t length(int chunk) const {
    return at(part_.chunk(chunk).size.value) * element_;
  }

  [[nodiscard]] std::byte* address(const Slot& l) const {
    const std::size_t offset = at(part_.chunk(l.chunk).offset.value) * element_;
    const std::size_t half = l.chunk >= blocks_ ? at(part_.count().value) * element_ : 0;
    switch (l.place) {
      case Place::input:
        return buffers_.input + offset;
      case Place::output:
        return buffers_.output + offset;
      case Place::scratch:
        return layout_.scratch_.data() + offset + half;
      case Place::spare:
        break;
    }
    return layout_.spare_.data() + offset + half;
  }

  MessageLayout& layout_;
  Partition part_;
  RankBuffers buffers_;
  std::size_t element_;           // [bytes]
  int blocks_;                    // chunks of one buffer
  std::size_t halves_;            // of the chunks: all_to_all's go to a buffer each
  std::size_t reduced_, copied_;  // [bytes] of a segment
  int window_;
};

MessageLayout::MessageLayout(const Schedule& s, const MessageProgram& program,
                             const MessageData& data, const SegmentOptions& options) {
  Builder(*this, s, data, options).build(program);
}

}  // namespace collmark
