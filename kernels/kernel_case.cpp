#include "kernels/kernel_case.hpp"

#include <atomic>
#include <cstring>
#include <memory>

#include "collectives/catalogue.hpp"
#include "collectives/test_data.hpp"
#include "kernels/cpu_kernels.hpp"
#include "kernels/hang.hpp"
#include "kernels/registry.hpp"
#include "kernels/world.hpp"

namespace collmark {
namespace {

constexpr std::uint32_t kNearTheWrap = 0xfffffffc;  // counters of links and meetings begin here

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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

class Run {
 public:
  explicit Run(const KernelCase& c)
      : case_(c),
        schedule_(build(Collective::all_reduce, c.algorithm, c.ranks)),
        expected_(expect(schedule_, c.payload, c.launches)),
        size_(bytes(c.payload)),
        got_(at(c.launches), std::vector<ByteBuffer>(at(c.ranks), ByteBuffer(size_))),
        shape_{.ranks = c.ranks,
               .channels = c.channels,
               .slots = c.slots,
               .slot_elements = c.slot_elements,
               .element = size_of(c.payload.dtype),
               .staged = c.payload.count.value} {
    const std::size_t shift = at(c.misalignment) * shape_.element;
    for (int r = 0; r < c.ranks; ++r) {
      memory_.emplace_back(size_ + shift);
      inputs_.push_back(memory_.back().data() + shift);
      memory_.emplace_back(size_ + shift);
      outputs_.push_back(c.placement == Placement::in_place ? inputs_.back()
                                                            : memory_.back().data() + shift);
      memory_.emplace_back(piece_bytes(shape_));
      pieces_.push_back(memory_.back().data());
      barriers_.push_back(std::make_unique<RankBarrier>(c.channels * c.lanes));
    }
    world_ = std::make_unique<World>(shape_, pieces_);
    for (int r = 0; r < c.ranks; ++r) {
      views_.push_back(world_->view(r, inputs_, outputs_));
      set_counters(views_.back());
    }
    stuck_.resize(at(c.ranks * c.channels));
    const Work work{c.algorithm, schedule_, c.payload, c.placement};
    kernel_ = cpu_kernel(kernel_symbol(work));
    job_ = job_of(work);
    job_.views = views_.data();
    job_.channels = c.channels;
    job_.slots = c.slots;
    job_.slot_elements = c.slot_elements;
    job_.slot_bytes = slot_bytes(shape_);
    job_.given_up = &given_up_;
    job_.stuck = stuck_.data();
    job_.looks = c.looks;
  }

  std::string run() {
    grid::run({.blocks = case_.ranks * case_.channels,
               .lanes = case_.lanes,
               .engine = case_.engine,
               .seed = case_.seed,
               .blocks_per_rank = case_.channels},
              [this] { rank(); });
    if (std::string said = hang(stuck_); !said.empty()) return said;
    for (int l = 0; l < case_.launches; ++l)
      for (int r = 0; r < case_.ranks; ++r)
        if (!owed_equal(schedule_, case_.payload, r,
                        {got_[at(l)][at(r)], expected_.outputs[at(l)][at(r)]}))
          return "launch " + std::to_string(l) + ", rank " + std::to_string(r) + " differs";
    return "";
  }

 private:
  void set_counters(const RankView& view) {
    for (int i = 0; i < case_.channels; ++i) {
      view.meetings[i] = kNearTheWrap;
      for (int peer = 0; peer < case_.ranks; ++peer)
        view.arrived[views_.size() - 1][i * case_.ranks + peer] = kNearTheWrap;
      for (const Link* link : {&view.from[i], &view.to[i]})
        for (std::uint32_t* counter : {link->tail, link->head, link->passed})
          *counter = kNearTheWrap;
    }
  }
  /// What one lane does: its rank's launches, each with a fresh input in the same buffer.
  void rank() {
    const int r = grid::index().block / case_.channels;
    if (r == case_.silent_rank) return;
    const bool first = grid::index().block % case_.channels == 0 && grid::index().lane == 0;
    RankBarrier& barrier = *barriers_[at(r)];
    for (int l = 0; l < case_.launches; ++l) {
      if (first && size_ > 0)
        std::memcpy(inputs_[at(r)], expected_.inputs[at(l)][at(r)].data(), size_);
      barrier.wait();
      kernel_->run(&job_);
      barrier.wait();
      if (first && size_ > 0) std::memcpy(got_[at(l)][at(r)].data(), outputs_[at(r)], size_);
    }
  }

  const KernelCase& case_;
  Schedule schedule_;
  Expectation expected_;
  std::size_t size_;
  std::vector<std::vector<ByteBuffer>> got_;  // [launch][rank]
  WorldShape shape_;
  std::vector<Aligned> memory_;
  std::vector<std::byte*> inputs_, outputs_, pieces_;   // [rank]
  std::vector<std::unique_ptr<RankBarrier>> barriers_;  // [rank]
  std::unique_ptr<World> world_;
  std::vector<RankView> views_;
  std::uint32_t given_up_ = 0;
  std::vector<Stuck> stuck_;  // [block]
  const CpuKernel* kernel_ = nullptr;
  Job job_;
};

}  // namespace

std::string differs(const KernelCase& c) { return Run(c).run(); }

}  // namespace collmark
