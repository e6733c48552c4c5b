/// What ranks say before they give up, where rank 0 reads it without MPI: that may be what it hangs in.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/mpi/hosts.hpp"
#include "bench/mpi_launch.hpp"

namespace collmark {

/// A page or more that rank 0 owns and the ranks of its host map. Ranks of other hosts are not heard.
class LastWords {
 public:
  /// Called by all ranks of the job. Who cannot map it (another container of the same host) is not heard either.
  LastWords(const Hosts& hosts, int rank);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  /// By each rank when it has done its part of an order.
  void order_done() noexcept;

  /// By any rank, from any thread, once.
  void say(const RankFailure& failure) noexcept;

  // --- at rank 0
  /// Before the other ranks are.
  void order_told() noexcept;
  /// It has done all orders that were told. False of ranks that are not heard.
  [[nodiscard]] bool is_idle(int rank) const;
  /// No rank that is none of the job, either.
  [[nodiscard]] bool hears(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < heard_.size() && heard_[r] != 0;
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(heard_.size()); }
  /// Empty: it has said nothing yet, or is not heard.
  [[nodiscard]] std::optional<RankFailure> of(int rank) const;

 private:
  struct Slot {
    std::atomic<int> kind;  // 0: nothing said
    std::atomic<int> done;  // orders
    std::array<char, 504> what;
  };
  struct Page {             // and a slot for each rank behind it
    std::uint64_t token;    // the same that rank 0 has told, or it is somebody else's
    std::atomic<int> told;  // orders
  };
  [[nodiscard]] Slot& slot(int rank) const { return reinterpret_cast<Slot*>(page_ + 1)[rank]; }
  [[nodiscard]] static Page* mapped(int file, std::size_t size);

  std::size_t size_;  // [bytes]
  int rank_ = 0;
  Page* page_ = nullptr;    // null: this rank is not heard
  std::vector<int> heard_;  // [rank]
};

}  // namespace collmark
