#include "kernels/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/index.hpp"
#include "kernels/channels.hpp"
#include "kernels/hang.hpp"

namespace collmark {
namespace {

// Where nothing is asked for. Guesses to start from, not measured on a GPU.
constexpr int kSlots = 4;
constexpr std::int64_t kSmallestSlot = 1 << 10, kLargestSlot = 128 << 10;  // [bytes]

constexpr Bytes kGivenUp{128};  // one word, alone on its line

constexpr Bytes kCountsSize{sizeof(TransferCounts)};

std::byte* variable_of_counts(const GpuStream& stream) {
  return stream.gpu().variable("collmark_transfer_counts", kCountsSize);
}

/// In the order of the stream; after an error too, so nothing is thrown: what is wrong will be said by the next call.
void count_no_more(GpuStream& stream) noexcept {
  static const TransferCounts nobody_counts{nullptr, 0};
  try {
    stream.copy_to_device(variable_of_counts(stream),
                          reinterpret_cast<const std::byte*>(&nobody_counts), kCountsSize);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

GpuMemory word_of_giving_up(GpuStream& stream) {
  GpuMemory word(stream.gpu(), kGivenUp);
  stream.set(word.data(), 0, word.size());
  return word;
}

GpuCollective::GpuCollective(Gpus& gpus, const KernelTask& task, const GpuTuning& asked,
                             GpuPlace place)
    : gpus_(gpus),
      task_(task),
      here_{.first = 0, .count = task.ranks},
      spread_{.ranks = task.ranks, .gpus = gpus.size()},
      place_(std::move(place)) {
  if (!place_.buffers.empty() && task.placement != Placement::in_place)
    throw Error(ErrorKind::broken, "buffers of others are all-reduced in place only");
  place_ranks();
  tune(asked);
  allocate(task.payload.size());
  for (const auto& part : parts_) lay_out(*part);
}

void GpuCollective::place_ranks() {
  for (int first = 0; first < task_.ranks; first += spread_.each()) {
    const int count = std::min(spread_.each(), task_.ranks - first);
    add_part({.first = first, .count = count}, gpus_[devices()]);
  }
  if (const std::string obstacle = gpus_.connect(devices()); !obstacle.empty())
    throw Unsupported(obstacle);
}

void GpuCollective::add_part(KernelJob::Ranks ranks, Gpu& gpu) {
  if (!gpu.facts().cooperative)
    throw Unsupported(fmt::format("GPU {} ({}) has no cooperative launch", gpu.facts().ordinal,
                                  gpu.facts().name));
  auto part = std::make_unique<Part>();
  part->ranks = ranks;
  if (place_.streams.empty()) part->own_stream = std::make_unique<GpuStream>(gpu);
  part->stream = place_.streams.empty() ? part->own_stream.get() : place_.streams[at(devices())];
  if (place_.given_up.empty()) part->own_given_up = word_of_giving_up(*part->stream);
  part->given_up =
      place_.given_up.empty() ? part->own_given_up.data() : place_.given_up[at(devices())];
  parts_.push_back(std::move(part));
}

void GpuCollective::tune(const GpuTuning& asked) {
  const GpuFacts& facts = gpus_[0].facts();
  const std::int64_t size = task_.payload.size().value;
  misaligned_ = asked.misaligned.value_or(0);
  threads_ = asked.threads.value_or(smallest(std::min(kKernelThreads, facts.most_threads)));
  tuning_.channels = asked.channels.value_or(1);
  tuning_.slots = asked.slots.value_or(kSlots);
  tuning_.slot = asked.slot.value_or(Bytes{kSmallestSlot});
  job_ = std::make_unique<KernelJob>(task_, tuning_);  // says which kernel it will be
  symbol_ = fmt::format("{}_{}", name(job_->kernel()), name(task_.payload.dtype));

  const int most = resident_blocks();
  if (!asked.channels)  // with one, the job has what it rounds up to
    tuning_.channels = channels_for(Bytes{size}, job_->channels(),
                                    {.blocks = most,
                                     .multiprocessors = smallest(facts.multiprocessors),
                                     .ranks = spread_.each()});
  if (!asked.slot) {
    const std::int64_t share = size / task_.ranks / tuning_.channels;
    tuning_.slot = {rounded_up(std::clamp(share, kSmallestSlot, kLargestSlot), 16)};
  }
  job_ = std::make_unique<KernelJob>(task_, tuning_);
  if (job_->channels() > most / spread_.each())  // a grid too large would never end
    throw Unsupported(
        fmt::format("{} ranks on one GPU with {} channels of {} threads are {} blocks; {} holds {} "
                    "of {} at once",
                    spread_.each(), job_->channels(), threads_, spread_.each() * job_->channels(),
                    facts.name, most, symbol_));
}

void GpuCollective::allocate(Bytes buffer) {
  for (int r = 0; r < task_.ranks; ++r) {
    GpuStream& stream = this->stream(device_of(r));
    const auto fresh = [&](Bytes size) {
      memory_.emplace_back(stream.gpu(), size);
      return memory_.back().data();
    };
    const auto shifted = [&](int elements) {
      const Bytes shift{elements * static_cast<std::int64_t>(size_of(task_.payload.dtype))};
      return fresh({buffer.value + shift.value}) + shift.value;
    };
    const bool in_place = task_.placement == Placement::in_place;
    reach_.inputs.push_back(place_.buffers.empty() ? shifted(misaligned_) : place_.buffers[at(r)]);
    reach_.outputs.push_back(in_place          ? reach_.inputs.back()
                             : misaligned_ > 0 ? shifted(misaligned_ + 1)
                                               : fresh(buffer));
    const Bytes piece{static_cast<std::int64_t>(job_->piece_size())};
    reach_.pieces.push_back(fresh(piece));
    stream.set(reach_.pieces.back(), 0, piece);
  }
}

/// The device's part of the job, with its lists where they will lie.
void GpuCollective::lay_out(Part& part) {
  const Gpu& gpu = part.stream->gpu();
  Tables unplaced(nullptr);
  (void)job_->lay_out(part.ranks, reach_, unplaced);
  part.tables = GpuMemory(gpu, {static_cast<std::int64_t>(unplaced.bytes().size())});
  Tables tables(part.tables.data());
  part.job = job_->lay_out(part.ranks, reach_, tables);
  part.host_tables = tables.bytes();
  part.stream->copy_to_device(part.tables.data(), part.host_tables.data(), part.tables.size());

  const std::int64_t blocks = std::int64_t{part.ranks.count} * job_->channels();
  part.stuck = GpuMemory(gpu, {blocks * static_cast<std::int64_t>(sizeof(Stuck))});
  part.stream->set(part.stuck.data(), 0, part.stuck.size());
  part.report = std::make_unique<PinnedMemory>(gpu, kGivenUp);
  std::fill_n(part.report->data(), kGivenUp.value, std::byte{0});
  part.job.given_up = reinterpret_cast<std::uint32_t*>(part.given_up);
  part.job.stuck = reinterpret_cast<Stuck*>(part.stuck.data());
}

std::string GpuCollective::tuning() const {
  return fmt::format("channels={} threads={} slots={} slot_bytes={} protocol={}{}",
                     job_->channels(), threads_, tuning_.slots, tuning_.slot.value,
                     job_->protocol() == Protocol::low_latency ? "LL" : "simple",
                     misaligned_ > 0 ? fmt::format(" misaligned={}", misaligned_) : "");
}

void GpuCollective::set_longest_wait(std::chrono::nanoseconds longest) {
  for (const auto& part : parts_) part->job.longest_wait = longest.count();
}

/// The launch begins one rank later, or ends one earlier.
void GpuCollective::leave_out(int rank) {
  Part& part = *parts_[at(device_of(rank))];
  const bool first = rank == part.ranks.first;
  if (!first && rank != part.ranks.first + part.ranks.count - 1)
    throw Error(ErrorKind::usage,
                fmt::format("rank {} can be left out only as the first or last of its GPU", rank));
  --part.ranks.count;
  --part.job.held;
  if (!first) return;
  ++part.ranks.first;
  ++part.job.rank_base;
  ++part.job.views;
}

Grid GpuCollective::grid(const Part& part) const {
  return {.blocks = part.ranks.count * job_->channels(), .threads = threads_};
}

void GpuCollective::run() {
  for (const auto& part : parts_) {
    if (part->ranks.count == 0) continue;  // left out
    part->stream->launch_together(symbol_, grid(*part), part->job);
  }
}

bool GpuCollective::run_counted() {
  const bool all_count = std::all_of(parts_.begin(), parts_.end(), [](const auto& part) {
    return variable_of_counts(*part->stream) != nullptr;
  });
  if (smallest(all_count ? 1 : 0) == 0) return false;
  try {
    for (const auto& part : parts_) begin_to_count(*part);
    run();
  } catch (...) {
    for (const auto& part : parts_) count_no_more(*part->stream);
    throw;
  }
  for (const auto& part : parts_) {
    count_no_more(*part->stream);
    part->stream->copy_to_host(part->counts->data(), part->counted.data(), part->counted.size());
  }
  return true;
}

void GpuCollective::begin_to_count(Part& part) {
  const Bytes size{
      static_cast<std::int64_t>(at(task_.ranks) * at(task_.ranks) * sizeof(unsigned long long))};
  part.counts = std::make_unique<PinnedMemory>(part.stream->gpu(), size);
  part.counted = GpuMemory(part.stream->gpu(), size);
  part.count_there = {reinterpret_cast<unsigned long long*>(part.counted.data()), task_.ranks};
  part.stream->set(part.counted.data(), 0, size);
  part.stream->copy_to_device(variable_of_counts(*part.stream),
                              reinterpret_cast<const std::byte*>(&part.count_there), kCountsSize);
}

Bytes GpuCollective::busiest() const {
  struct Moved {
    unsigned long long sent = 0, received = 0;
  };
  unsigned long long most = 0;
  for (int rank = 0; rank < task_.ranks; ++rank) {
    Moved moved;  // as the kernels of this process saw it
    for (const auto& part : parts_)
      for (int peer = 0; peer < task_.ranks; ++peer) {
        moved.sent += part->transfers()[at(rank) * at(task_.ranks) + at(peer)];
        moved.received += part->transfers()[at(peer) * at(task_.ranks) + at(rank)];
      }
    const std::vector<Moved> all = peers_ == nullptr ? std::vector{moved} : peers_->all_of(moved);
    Moved sum;
    for (const Moved& one : all) sum = {sum.sent + one.sent, sum.received + one.received};
    most = std::max({most, sum.sent, sum.received});
  }
  return Bytes{static_cast<std::int64_t>(most * size_of(task_.payload.dtype))};
}

Bytes GpuCollective::sent() const {
  unsigned long long elements = 0;
  for (const auto& part : parts_)
    for (std::size_t i = 0; i < at(task_.ranks) * at(task_.ranks); ++i)
      elements += part->transfers()[i];
  return Bytes{static_cast<std::int64_t>(elements * size_of(task_.payload.dtype))};
}

void GpuCollective::queue_report() {
  for (const auto& part : parts_)
    part->stream->copy_to_host(part->report->data(), part->given_up, Bytes{sizeof(std::uint32_t)});
}

bool GpuCollective::gave_up() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) {
    return *reinterpret_cast<const std::uint32_t*>(part->report->data()) != 0;
  });
}

void GpuCollective::queue_complaint() {
  stuck_.clear();
  std::size_t blocks = 0;
  for (const auto& part : parts_) blocks += at(part->stuck.size().value) / sizeof(Stuck);
  stuck_.resize(blocks);
  auto* to = reinterpret_cast<std::byte*>(stuck_.data());
  for (const auto& part : parts_) {
    part->stream->copy_to_host(to, part->stuck.data(), part->stuck.size());
    to += part->stuck.size().value;
  }
}

std::string GpuCollective::complaint() const { return hang(stuck_, tuning_.slots); }

}  // namespace collmark
