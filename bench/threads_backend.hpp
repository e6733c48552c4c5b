/// Ranks are threads of this process.
#pragma once

#include <memory>

#include "bench/backend.hpp"
#include "bench/running_launch.hpp"
#include "bench/thread_member.hpp"
#include "topologies/host.hpp"

namespace collmark {

class ThreadsBackend : public Backend {
 public:
  explicit ThreadsBackend(const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override { return "threads"; }
  [[nodiscard]] Availability availability() const override { return {.here = true, .reason = ""}; }
  [[nodiscard]] Bytes memory_needed(const Case& c) const override;
  [[nodiscard]] Bytes memory_available() const override;
  [[nodiscard]] CaseResult run(const Case& c) override;
  void interrupt() noexcept override;

 private:
  /// Of this host's first two cores, measured once.
  [[nodiscard]] std::optional<LinkCost> link_cost();
  void measure_into(CaseResult& result, const Case& c, const Schedule& schedule);

  BackendOptions options_;
  Host host_;
  std::optional<LinkCost> link_cost_ = {};
  RunningLaunch running_;
};

}  // namespace collmark
