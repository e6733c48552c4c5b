/// One rank's part of a collective that is prepared to run many times: a schedule of ours, or a call of the
/// library's.
#pragma once

#include <optional>

#include "collectives/mpi/mpi_collective.hpp"

namespace collmark {

class RankCollective {
 public:
  virtual ~RankCollective() = default;
  virtual void run() = 0;
  /// In the last run; empty for a library, which does not tell. Called by all ranks together.
  [[nodiscard]] virtual std::optional<Moved> moved() const = 0;
  /// What a watchdog says of run(); null if run() bounds its waits itself.
  [[nodiscard]] virtual const char* unbounded_wait() const = 0;
};

/// Names the peer that it waits for.
class ScheduledCollective final : public RankCollective {
 public:
  ScheduledCollective(const Communicator& comm, const Schedule& schedule, const MessageData& data,
                      const MessageOptions& options)
      : collective_(comm, schedule, data, options) {}

  void run() override { collective_.run(); }
  [[nodiscard]] std::optional<Moved> moved() const override { return collective_.moved(); }
  [[nodiscard]] const char* unbounded_wait() const override { return nullptr; }

 private:
  MpiCollective collective_;
};

}  // namespace collmark
