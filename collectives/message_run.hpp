/// Runs one rank's messages over a wire: the executor of everything that shares no memory.
///
/// A step is open once its receives and sends are posted. From then on it is driven by what completes: a
/// segment that has arrived is merged as far as all that goes into the same chunk has arrived too, its
/// place in the window is posted anew, and the step ends when everything in it is merged and posted.
///
/// Nothing here waits for a peer that waits for us: a step's receives are posted before anything of it is
/// waited for, and what it waits for was sent in this step or an earlier one.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "collectives/message_layout.hpp"
#include "collectives/reduce.hpp"
#include "collectives/wire.hpp"

namespace collmark {

struct MessageOptions {
  SegmentOptions segments = {};
  std::chrono::milliseconds timeout{30'000};  // without any progress; then Error{timed_out}
  int spins = 2000;  // looks at the wire before the core is given away between them
  const std::atomic<bool>* interrupted = nullptr;  // set: Error{interrupted}
};

class MessageRun {
 public:
  MessageRun(Wire& wire, const Schedule& s, int rank, const MessageData& data,
             const MessageOptions& options = {});

  /// One operation, to its end. After an error the operation cannot be taken up again.
  void run();

  /// The same in pieces, for whoever drives several ranks at once: advance() does what can be done without
  /// waiting and says whether the operation is complete.
  void start();
  [[nodiscard]] bool advance();

  /// "rank 2 in step 3: waits for the message of rank 1"
  [[nodiscard]] std::string blocked() const;

  [[nodiscard]] Moved moved() const { return moved_; }
  /// Memory beyond the caller's buffers.
  [[nodiscard]] Bytes scratch() const { return layout_.scratch(); }

 private:
  /// A message on its way.
  struct Flight {
    const Stream* stream;
    std::size_t step;           // index
    std::vector<int> prepared;  // [segment]: the wire's name of it
    std::vector<char> early;    // [segment mod window]: completed behind a gap
    int posted = 0;             // segments handed to the wire
    int head = 0;               // segments completed without a gap
    int freed = 0;              // segments whose place in the window is free again
    std::size_t merged = 0;     // parcels that need nothing more, without a gap; of received ones
    bool closed = false;        // its step need not wait for it any more

    [[nodiscard]] int segments() const { return static_cast<int>(prepared.size()); }
    [[nodiscard]] std::size_t arrived() const { return stream->end_of(head); }  // [bytes]
  };
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  Range add_flights(std::vector<Flight>& flights, const std::vector<Stream>& streams);
  [[nodiscard]] const ByteStep& step() const { return layout_.steps()[step_]; }
  [[nodiscard]] bool open();
  void post(Flight& f, Ticket::Way way);
  void take(const Completed& completed);
  void merge_parcels(const Flight& f);
  void merge(int index);
  [[nodiscard]] std::size_t ready(const ByteMerge& m) const;
  void combine(const ByteMerge& m, std::size_t from, std::size_t to);
  [[nodiscard]] bool needs_nothing(const Flight& f, const StagedParcel& x) const;
  void settle(Flight& f);
  void close(Flight& f);

  Wire& wire_;
  MessageOptions options_;
  int rank_;
  std::size_t element_;  // [bytes]
  MessageLayout layout_;
  ReducePass reduce_;
  AveragePass average_;
  int contributors_;
  std::vector<Extent> averaged_;  // what avg divides in the end; empty for other operators

  // Of the whole operation, step after step.
  std::vector<Flight> sends_, receives_;
  std::vector<Range> step_sends_, step_receives_;  // [step]
  std::size_t step_ = 0;                           // the one that is open, or next
  std::size_t sent_ = 0;                           // sends complete without a gap

  // Of the step that is open.
  bool open_ = false;
  int unfinished_ = 0;               // sends to post, receives and merges to finish
  std::vector<std::size_t> merged_;  // [merge], bytes

  std::vector<const std::byte*> sources_;  // of one pass
  std::int64_t completions_ = 0;           // ever: a sign of life
  Moved moved_;
};

}  // namespace collmark
