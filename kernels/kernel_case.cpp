#include "kernels/kernel_case.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>

#include "collectives/index.hpp"
#include "collectives/test_data.hpp"
#include "kernels/cpu_kernels.hpp"
#include "kernels/hand_written.hpp"
#include "kernels/hang.hpp"
#include "kernels/kernel_job.hpp"
#include "kernels/on_cpu/observer.hpp"

namespace collmark {
namespace {

constexpr std::uint32_t kNearTheWrap = 0xfffffffc;  // counters of links and meetings begin here
constexpr int kOld = 0x5a;  // bytes of slots: with counters so high, each has been written before

/// Memory that begins where a pack does.
class Aligned {
 public:
  explicit Aligned(std::size_t size) : words_(size / sizeof(Unit) + 1) {}
  std::byte* data() { return words_.data()->bytes; }

 private:
  struct alignas(128) Unit {
    std::byte bytes[128];
  };
  std::vector<Unit> words_;
};

/// What a stream does between two kernels: all blocks of a rank end one before any begins the next.
class RankBarrier {
 public:
  explicit RankBarrier(int lanes) : expected_(lanes) {}
  void wait() {
    const int generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == expected_) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.store(generation + 1, std::memory_order_release);
      grid::progress();
      return;
    }
    while (generation_.load(std::memory_order_acquire) == generation)
      grid::pause_lane("the other blocks of its rank");
  }

 private:
  int expected_;
  std::atomic<int> arrived_{0}, generation_{0};
};

KernelTask task_of(const KernelCase& c) {
  return {.name = parse_kernel_name(c.kernel.algorithm),
          .collective = c.kernel.collective,
          .ranks = c.ranks,
          .root = c.root,
          .payload = c.payload,
          .placement = c.placement};
}

Tuning tuning_of(const KernelCase& c) {
  return {.channels = c.channels,
          .slots = c.slots,
          .slot = {c.slot_elements * static_cast<std::int64_t>(size_of(c.payload.dtype))}};
}

class Run {
 public:
  explicit Run(const KernelCase& c)
      : case_(c),
        kernel_job_(task_of(c), tuning_of(c)),
        expected_(expect(kernel_job_.schedule(), c.payload, c.launches)),
        size_(bytes(c.payload)),
        got_(at(c.launches), std::vector<ByteBuffer>(at(c.ranks), ByteBuffer(size_))) {
    const std::size_t element = size_of(c.payload.dtype), shift = at(c.misalignment) * element;
    const std::size_t output_shift = at(c.output_misalignment.value_or(c.misalignment)) * element;
    for (int r = 0; r < c.ranks; ++r) {
      memory_.emplace_back(size_ + shift);
      reach_.inputs.push_back(memory_.back().data() + shift);
      memory_.emplace_back(size_ + output_shift);
      reach_.outputs.push_back(c.placement == Placement::in_place
                                   ? reach_.inputs.back()
                                   : memory_.back().data() + output_shift);
      memory_.emplace_back(kernel_job_.piece_size());
      reach_.pieces.push_back(memory_.back().data());
      barriers_.push_back(std::make_unique<RankBarrier>(kernel_job_.channels() * c.lanes));
    }
    lay_out();
    kernel_ = cpu_kernel(kernel_job_.symbol());
    for (int r = 0; r < c.ranks; ++r) set_counters(r);
    stuck_.resize(at(c.ranks * kernel_job_.channels()));
    job_.given_up = &given_up_;
    job_.stuck = stuck_.data();
    job_.longest_wait = c.longest_wait;
  }

  std::string run() {
    grid::run({.blocks = case_.ranks * kernel_job_.channels(),
               .lanes = case_.lanes,
               .engine = case_.engine,
               .seed = case_.seed,
               .blocks_per_rank = kernel_job_.channels()},
              [this] { rank(); });
    if (std::string said = hang(stuck_, job_.slots); !said.empty()) return said;
    for (int l = 0; l < case_.launches; ++l)
      for (int r = 0; r < case_.ranks; ++r)
        if (!owed_equal(kernel_job_.schedule(), case_.payload, r,
                        {got_[at(l)][at(r)], expected_.outputs[at(l)][at(r)]}))
          return "launch " + std::to_string(l) + ", rank " + std::to_string(r) + " differs";
    return "";
  }

 private:
  void lay_out() {
    const KernelJob::Ranks all{.first = 0, .count = case_.ranks};
    Tables unplaced(nullptr);
    (void)kernel_job_.lay_out(all, reach_, unplaced);
    memory_.emplace_back(unplaced.bytes().size());
    Tables tables(memory_.back().data());
    job_ = kernel_job_.lay_out(all, reach_, tables);
    std::memcpy(memory_.back().data(), tables.bytes().data(), tables.bytes().size());
  }
  void set_counters(int rank) {
    const RankView& view = job_.views[rank];
    for (int i = 0; i < job_.channels; ++i) {
      view.meetings[i] = view.begun[i] = view.epochs[i] = kNearTheWrap;
      view.progress[rank][i * kFlagStride] = kNearTheWrap;
      for (int peer = 0; peer < case_.ranks; ++peer) {
        view.arrived[rank][i * case_.ranks + peer] = kNearTheWrap;
        for (const LinkEnd* ends : {view.from, view.to})
          if (const LinkEnd& link = ends[peer * job_.channels + i]; link.passed != nullptr)
            *link.tail = *link.head = *link.passed = kNearTheWrap;
        if (const LinkEnd& link = view.from[peer * job_.channels + i]; link.slots != nullptr)
          std::memset(link.slots, kOld, static_cast<std::size_t>(job_.slots) * job_.slot_bytes);
      }
    }
  }
  /// What one lane does: its rank's launches, each with a fresh input in the same buffer.
  void rank() {
    const int r = grid::index().block / job_.channels;
    if (r == case_.silent_rank) return;
    const bool first = grid::index().block % job_.channels == 0 && grid::index().lane == 0;
    RankBarrier& barrier = *barriers_[at(r)];
    for (int l = 0; l < case_.launches; ++l) {
      if (first && size_ > 0)
        std::memcpy(reach_.inputs[at(r)], expected_.inputs[at(l)][at(r)].data(), size_);
      barrier.wait();
      kernel_->run(&job_);
      barrier.wait();
      if (first && size_ > 0) std::memcpy(got_[at(l)][at(r)].data(), reach_.outputs[at(r)], size_);
    }
  }

  const KernelCase& case_;
  KernelJob kernel_job_;
  Expectation expected_;
  std::size_t size_;
  std::vector<std::vector<ByteBuffer>> got_;  // [launch][rank]
  std::vector<Aligned> memory_;
  Reach reach_;
  std::vector<std::unique_ptr<RankBarrier>> barriers_;  // [rank]
  std::uint32_t given_up_ = 0;
  std::vector<Stuck> stuck_;  // [block]
  const CpuKernel* kernel_ = nullptr;
  Job job_;
};

class Watch : public Observer {
 public:
  explicit Watch(LaunchTraffic& watched) : watched_(watched) {}
  void pass(std::int64_t loads, std::int64_t stores) override {
    const std::lock_guard lock(mutex_);
    watched_.loads += loads;
    watched_.stores += stores;
    watched_.stored_by[grid::index().block] += stores;
  }
  void transfer(const MovedPart& part) override {
    const std::lock_guard lock(mutex_);
    watched_.transfers.push_back(part);
  }

 private:
  LaunchTraffic& watched_;
  std::mutex mutex_;
};

/// With a parameter where the usual one suits no small buffer, or few ranks.
std::string in_few_pieces(std::string_view algorithm) {
  if (algorithm == "sharded_parameter_server") return "sharded_parameter_server:2";
  if (algorithm == "double_binary_tree" || algorithm == "chain")
    return std::string(algorithm) + ":3";
  return std::string(algorithm);
}

}  // namespace

const std::vector<NamedKernel>& hand_written_kernels() {
  static const std::vector<NamedKernel> all = [] {
    std::vector<NamedKernel> list;
    for (const HandWritten& k : hand_written())
      list.push_back({k.collective, to_string({in_few_pieces(k.algorithm), k.way})});
    return list;
  }();
  return all;
}

std::vector<NamedKernel> interpreted_kernels() {
  std::vector<NamedKernel> all;
  for (const Algorithm& a : catalogue())
    all.push_back({a.collective, to_string({std::string(a.name), Way::interpreted})});
  return all;
}

std::vector<NamedKernel> all_kernels() {
  std::vector<NamedKernel> all = hand_written_kernels();
  const std::vector<NamedKernel> more = interpreted_kernels();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool supports(const NamedKernel& kernel, int ranks) {
  try {
    const std::string algorithm = parse_kernel_name(kernel.algorithm).algorithm;
    return build(kernel.collective, algorithm, ranks).ranks == ranks;
  } catch (const Unsupported&) {
    return false;
  }
}

std::string words(const KernelCase& c) {
  return std::string(name(c.kernel.collective)) + " " + c.kernel.algorithm + " ranks " +
         std::to_string(c.ranks) + " root " + std::to_string(c.root) + " count " +
         std::to_string(c.payload.count.value) + " " + std::string(name(c.payload.dtype)) + " " +
         std::string(name(c.payload.op)) + " misaligned " + std::to_string(c.misalignment) + ", " +
         std::to_string(c.output_misalignment.value_or(c.misalignment)) + " channels " +
         std::to_string(c.channels) + (c.placement == Placement::in_place ? " in place" : "") +
         " seed " + std::to_string(c.seed);
}

std::string differs(const KernelCase& c) { return Run(c).run(); }

std::string differs(const KernelCase& c, LaunchTraffic& watched) {
  KernelCase once = c;
  once.launches = 1;
  Run run(once);
  Watch watch(watched);
  const Watching watching(watch);
  return run.run();
}

}  // namespace collmark
