#include "bench/mpi/rank_work.hpp"

#include <cstring>
#include <utility>

#include "collectives/mpi/window_collective.hpp"

namespace collmark {
namespace {

void touch(std::byte* data, Bytes size) {
  if (size.value > 0) std::memset(data, 0, static_cast<std::size_t>(size.value));
}

/// Names the peer that it waits for.
class CollectiveInWindow final : public RankCollective {
 public:
  CollectiveInWindow(const Communicator& comm, const Schedule& schedule, const WindowData& data,
                     const WindowOptions& options)
      : collective_(comm, schedule, data, options) {}

  [[nodiscard]] RankBuffers buffers() const { return collective_.buffers(); }
  void run() override { collective_.run(); }
  [[nodiscard]] std::optional<Moved> moved() const override { return collective_.moved(); }
  [[nodiscard]] const char* unbounded_wait() const override { return nullptr; }

 private:
  WindowCollective collective_;
};

}  // namespace

RankWork work_on_own_pages(
    const Case& c, const std::function<std::unique_ptr<RankCollective>(const RankBuffers&)>& make) {
  RankWork work{.input = PageBuffer(c.size())};
  if (c.placement == Placement::out_of_place) work.output = PageBuffer(c.size());
  std::byte* const input = work.input.data();
  work.where = {input, c.placement == Placement::in_place ? input : work.output.data()};
  touch(work.input.data(), work.input.size());
  touch(work.output.data(), work.output.size());
  work.collective = make(work.where);
  return work;
}

RankWork work_in_window(const Communicator& comm, const Schedule& schedule, const Case& c,
                        std::chrono::milliseconds timeout) {
  const WindowData data{{c.count, c.dtype, c.op}, c.placement};
  auto collective =
      std::make_unique<CollectiveInWindow>(comm, schedule, data, WindowOptions{.timeout = timeout});
  RankWork work{.where = collective->buffers()};
  touch(work.where.input, c.size());
  touch(work.where.output, c.size());
  work.collective = std::move(collective);
  return work;
}

}  // namespace collmark
