#include "bench/test_hooks.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>

#include "collectives/error.hpp"

namespace collmark {
namespace {

int number(const char* variable, std::string_view text) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || value < 0)
    throw Error(ErrorKind::usage, fmt::format("{}: '{}' is not a number from 0", variable, text));
  return value;
}

/// One rank's operation with the faults that were asked for.
class FaultyOperation : public Operation {
 public:
  FaultyOperation(std::unique_ptr<Operation> real, const TestHooks& hooks, int rank, Output output)
      : real_(std::move(real)),
        absent_(hooks.absent_rank == rank),
        corrupts_(hooks.corrupt_rank == rank),
        only_call_(hooks.corrupt_call),
        output_(output) {}

  [[nodiscard]] OperationTraits traits() const override { return real_->traits(); }
  void rewrite_input() override { real_->rewrite_input(); }
  [[nodiscard]] Check check() const override { return real_->check(); }
  void evict() override { real_->evict(); }
  [[nodiscard]] Moved moved() const override { return real_->moved(); }
  [[nodiscard]] OwnClock* own_clock() override { return real_->own_clock(); }

  void run() override {
    if (absent_) throw RankLeft();
    real_->run();
    const int call = calls_++;
    if (!corrupts_ || output_.size.value == 0 || only_call_.value_or(call) != call) return;
    output_.data[output_.size.value / 2] ^= std::byte{1};
  }

 private:
  std::unique_ptr<Operation> real_;
  bool absent_, corrupts_;
  std::optional<int> only_call_;
  Output output_;
  int calls_ = 0;
};

}  // namespace

TestHooks test_hooks_from_environment() {
  constexpr const char* kAbsent = "COLLMARK_TEST_ABSENT_RANK";
  constexpr const char* kCorrupt = "COLLMARK_TEST_CORRUPT";
  constexpr const char* kStart = "COLLMARK_TEST_START_MS";
  TestHooks hooks;
  if (const char* text = std::getenv(kStart)) hooks.start_ms = number(kStart, text);
  if (const char* text = std::getenv(kAbsent)) hooks.absent_rank = number(kAbsent, text);
  if (const char* text = std::getenv(kCorrupt)) {
    const std::string_view whole(text);
    const std::size_t at = whole.find('@');
    hooks.corrupt_rank = number(kCorrupt, whole.substr(0, at));
    if (at != std::string_view::npos) hooks.corrupt_call = number(kCorrupt, whole.substr(at + 1));
  }
  return hooks;
}

std::unique_ptr<Operation> with_faults(std::unique_ptr<Operation> operation, const TestHooks& hooks,
                                       int rank, Output output) {
  if (hooks.absent_rank != rank && hooks.corrupt_rank != rank) return operation;
  return std::make_unique<FaultyOperation>(std::move(operation), hooks, rank, output);
}

}  // namespace collmark
