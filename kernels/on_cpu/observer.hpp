/// Watches what kernels on the CPU grid move, for tests: nothing is counted unless somebody watches.
#pragma once

#include <cstdint>

#include "kernels/moved_part.hpp"

namespace collmark {

/// Its functions are called by one lane of each block, by several blocks at once.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Bytes that a pass has loaded and stored, by all lanes of the block together.
  virtual void pass(std::int64_t loads, std::int64_t stores) = 0;
  virtual void transfer(const MovedPart& part) = 0;
};

/// Null unless a Watching lives.
[[nodiscard]] Observer* observer();

/// Watches as long as it lives; one at a time.
class Watching {
 public:
  explicit Watching(Observer& by);
  ~Watching();
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
};

}  // namespace collmark
