/// Training steps on the threads of this process.
#pragma once

#include <string>
#include <vector>

#include "bench/running_launch.hpp"
#include "bench/step_backend.hpp"
#include "bench/step_job.hpp"
#include "bench/thread_member.hpp"

namespace collmark {

class ThreadsStepBackend : public StepBackend {
 public:
  explicit ThreadsStepBackend(const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override { return "threads"; }
  [[nodiscard]] std::string obstacle(const StepCase& c) const override;
  [[nodiscard]] StepResult run(const StepCase& c) override;
  void interrupt() noexcept override;

 private:
  void measure_into(StepResult& result, const StepCase& c, StepWork work);

  BackendOptions options_;
  std::vector<int> cores_;
  RunningLaunch running_;
};

}  // namespace collmark
