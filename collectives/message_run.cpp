#include "collectives/message_run.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>

#include "collectives/error.hpp"
#include "collectives/index.hpp"
#include "collectives/promise.hpp"

namespace collmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLooksPerClock =
    64;  // at the wire, while nothing comes, for one at the clock

Placement placement_of(const RankBuffers& b) {
  return b.input == b.output ? Placement::in_place : Placement::out_of_place;
}

/// The chunks of the output that hold every contribution, if an average is made of them.
std::vector<Extent> averaged(const Schedule& s, int rank, const MessageData& data) {
  std::vector<Extent> chunks;
  if (data.payload.op != ReduceOp::avg || !reduces(s.collective)) return chunks;
  const Partition part(s, data.payload.count);
  const std::size_t element = size_of(data.payload.dtype);
  for (int c = 0; c < s.chunks; ++c) {
    if (owed_after(s, rank, c).what != Owed::What::every_contributor) continue;
    const Span span = part.chunk(c);
    chunks.push_back({.data = data.buffers.output + at(span.offset.value) * element,
                      .size = at(span.size.value) * element});
  }
  return chunks;
}

}  // namespace

MessageRun::MessageRun(Wire& wire, const Schedule& s, int rank, const MessageData& data,
                       const MessageOptions& options)
    : wire_(wire),
      options_(options),
      rank_(rank),
      element_(size_of(data.payload.dtype)),
      layout_(s, message_program(s, rank, placement_of(data.buffers)), data, options.segments),
      reduce_(reduce_pass(data.payload.dtype, data.payload.op)),
      average_(average_pass(data.payload.dtype)),
      contributors_(s.ranks - s.servers),
      averaged_(averaged(s, rank, data)) {
  for (const ByteStep& step : layout_.steps()) {
    step_sends_.push_back(add_flights(sends_, step.sends));
    step_receives_.push_back(add_flights(receives_, step.receives));
    merged_.resize(std::max(merged_.size(), step.merges.size()));
    for (const ByteMerge& m : step.merges)
      sources_.resize(std::max(sources_.size(), m.inputs.size()));
  }
}

MessageRun::Range MessageRun::add_flights(std::vector<Flight>& flights,
                                          const std::vector<Stream>& streams) {
  const std::size_t begin = flights.size();
  for (const Stream& s : streams) {
    Flight f{.stream = &s, .step = step_receives_.size(), .prepared = {}, .early = {}};
    f.early.resize(at(s.window));
    for (const std::vector<Extent>& pieces : s.segments)
      f.prepared.push_back(wire_.prepare(pieces));
    flights.push_back(std::move(f));
  }
  return {.begin = begin, .end = flights.size()};
}

void MessageRun::run() {
  start();
  std::int64_t seen = completions_, idle = 0;
  Clock::time_point since;
  while (!advance()) {
    if (completions_ != seen) idle = 0;
    seen = completions_;
    if (++idle > options_.spins) sched_yield();
    if (idle % kLooksPerClock != 0) continue;
    if (options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed))
      throw Error(ErrorKind::interrupted, "interrupted");
    const Clock::time_point now = Clock::now();
    if (idle == kLooksPerClock) since = now;
    if (now - since >= options_.timeout)
      throw Error(ErrorKind::timed_out,
                  fmt::format("nothing came for {} ms: {}", options_.timeout.count(), blocked()));
  }
}

void MessageRun::start() {
  for (std::vector<Flight>* flights : {&sends_, &receives_}) {
    for (Flight& f : *flights) {
      f.posted = f.head = f.freed = 0;
      f.merged = 0;
      f.closed = false;
    }
  }
  step_ = sent_ = 0;
  open_ = false;
  moved_ = {};
}

bool MessageRun::advance() {
  for (const Completed& c : wire_.poll()) take(c);
  for (; step_ < layout_.steps().size(); ++step_, open_ = false)
    if (!open() || unfinished_ > 0) return false;
  if (sent_ < sends_.size()) return false;
  for (const Extent& chunk : averaged_) average_(chunk.data, chunk.size / element_, contributors_);
  return true;
}

/// Receives first, so that nothing arrives before its place is known.
bool MessageRun::open() {
  if (open_) return true;
  if (sent_ < at(step().sends_before)) return false;  // what this step writes is still being read
  open_ = true;
  const Range in = step_receives_[step_], out = step_sends_[step_];
  const std::vector<ByteMerge>& merges = step().merges;
  unfinished_ = static_cast<int>(in.end - in.begin + out.end - out.begin + merges.size());
  std::fill_n(merged_.begin(), merges.size(), 0);
  for (std::size_t i = in.begin; i < in.end; ++i) post(receives_[i], Ticket::Way::in);
  for (std::size_t i = out.begin; i < out.end; ++i) post(sends_[i], Ticket::Way::out);
  for (std::size_t m = 0; m < merges.size(); ++m) {
    if (merges[m].size == 0)
      --unfinished_;
    else if (!merges[m].waits())
      merge(static_cast<int>(m));
  }
  return true;
}

/// As many segments as the window has room for. A send has done its part of the step when all are posted.
void MessageRun::post(Flight& f, Ticket::Way way) {
  const bool in = way == Ticket::Way::in;
  const auto message = static_cast<int>(&f - (in ? receives_ : sends_).data());
  const int limit = std::min(f.segments(), f.freed + f.stream->window);
  for (; f.posted < limit; ++f.posted) {
    const Ticket ticket{.way = way, .message = message, .segment = f.posted};
    const int segment = f.prepared[at(f.posted)];
    if (in)
      wire_.receive(f.stream->peer, segment, ticket);
    else
      wire_.send(f.stream->peer, segment, ticket);
  }
  if (!in && f.posted == f.segments()) close(f);
}

void MessageRun::take(const Completed& c) {
  const bool in = c.ticket.way == Ticket::Way::in;
  Flight& f = (in ? receives_ : sends_)[at(c.ticket.message)];
  const int k = c.ticket.segment;
  if (const std::size_t due = f.stream->end_of(k + 1) - f.stream->end_of(k); c.bytes != due)
    throw Error(ErrorKind::lost,
                fmt::format("rank {}: {} of {} bytes moved between it and rank {} in step {}",
                            rank_, c.bytes, due, f.stream->peer, layout_.steps()[f.step].step));
  ++completions_;
  (in ? moved_.received : moved_.sent).value += static_cast<std::int64_t>(c.bytes);
  f.early[at(k % f.stream->window)] = 1;
  for (; f.head < f.posted && f.early[at(f.head % f.stream->window)] != 0; ++f.head)
    f.early[at(f.head % f.stream->window)] = 0;

  if (in) {
    merge_parcels(f);
    settle(f);
    return;
  }
  if (k == 0) ++moved_.messages;
  if (open_ && f.step == step_) merge_parcels(f);
  f.freed = f.head;
  post(f, Ticket::Way::out);
  while (sent_ < sends_.size() && sends_[sent_].head == sends_[sent_].segments()) ++sent_;
}

/// Parcels that arrived are merged; those that left make room for what waits behind them.
void MessageRun::merge_parcels(const Flight& f) {
  const std::vector<StagedParcel>& stretches = f.stream->stretches;
  for (std::size_t i = f.merged; i < stretches.size() && stretches[i].begin < f.arrived(); ++i)
    if (stretches[i].merge != kNone) merge(stretches[i].merge);
}

/// As far as everything that goes into the same bytes has arrived.
void MessageRun::merge(int index) {
  const ByteMerge& m = step().merges[at(index)];
  std::size_t& done = merged_[at(index)];
  const std::size_t until = ready(m);
  if (until <= done) return;
  combine(m, done, until);
  done = until;
  for (const Input& i : m.inputs)
    if (i.stream != kNone) settle(receives_[step_receives_[step_].begin + at(i.stream)]);
  if (done == m.size) --unfinished_;
}

std::size_t MessageRun::ready(const ByteMerge& m) const {
  std::size_t until = m.size;
  const auto limit = [&](const Input& i, const Flight& f) {
    until = std::min(until, f.arrived() - std::min(f.arrived(), i.begin));
  };
  for (const Input& i : m.inputs)
    if (i.stream != kNone) limit(i, receives_[step_receives_[step_].begin + at(i.stream)]);
  for (const Input& i : m.behind) limit(i, sends_[step_sends_[step_].begin + at(i.stream)]);
  return until;
}

/// One pass over all inputs for each run of bytes that lies in one piece of every staging.
void MessageRun::combine(const ByteMerge& m, std::size_t from, std::size_t to) {
  while (from < to) {
    std::size_t run = to - from;
    for (std::size_t i = 0; i < m.inputs.size(); ++i) {
      const Input& input = m.inputs[i];
      if (input.stream == kNone) {
        sources_[i] = input.own + from;
        continue;
      }
      const Stream& s = step().receives[at(input.stream)];
      const std::size_t position = input.begin + from;
      sources_[i] = s.staged(position);
      run = std::min(run, s.segment - position % s.segment);
    }
    const std::array<std::byte*, 1> destination{m.to + from};
    reduce_({sources_.data(), m.inputs.size()}, destination, run / element_, Stores::cached);
    from += run;
  }
}

bool MessageRun::needs_nothing(const Flight& f, const StagedParcel& x) const {
  if (f.arrived() < x.end) return false;
  return x.merge == kNone || merged_[at(x.merge)] == step().merges[at(x.merge)].size;
}

/// What is merged makes room in the window.
void MessageRun::settle(Flight& f) {
  const std::vector<StagedParcel>& stretches = f.stream->stretches;
  while (f.merged < stretches.size() && needs_nothing(f, stretches[f.merged])) ++f.merged;
  std::size_t free = f.arrived();
  if (f.merged < stretches.size() && stretches[f.merged].merge != kNone)
    free = stretches[f.merged].begin + merged_[at(stretches[f.merged].merge)];
  f.freed = free == f.stream->size ? f.head : static_cast<int>(free / f.stream->segment);
  post(f, Ticket::Way::in);
  if (f.head == f.segments() && f.merged == stretches.size()) close(f);
}

void MessageRun::close(Flight& f) {
  if (!f.closed) --unfinished_;
  f.closed = true;
}

std::string MessageRun::blocked() const {
  const auto waits = [&](const Flight& f, const char* what) {
    return fmt::format("rank {} waits for rank {} to {} in step {}", rank_, f.stream->peer, what,
                       layout_.steps()[f.step].step);
  };
  if (open_) {
    const Range in = step_receives_[step_];
    for (std::size_t i = in.begin; i < in.end; ++i)
      if (receives_[i].head < receives_[i].segments())
        return waits(receives_[i], "send its message");
  }
  if (sent_ < sends_.size()) return waits(sends_[sent_], "take its message");
  return fmt::format("rank {} waits for nobody", rank_);
}

}  // namespace collmark
