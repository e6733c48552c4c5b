#include "bench/mpi/model_links.hpp"

#include <vector>

#include "bench/core_link.hpp"
#include "bench/mpi/link_turns.hpp"
#include "bench/mpi/rank_link.hpp"

namespace collmark {
namespace {

LinkCost measured(RankLink link) {
  std::vector<std::byte> data(static_cast<std::size_t>(kModelCopy.value));
  const Seconds flag = link.flag();
  return {.alpha = flag,
          .beta = link.copy(data, flag).count() / static_cast<double>(kModelCopy.value),
          .gamma = reduction_cost()};
}

/// A rank that was in no case so far knows less than the others.
bool said_by_rank_0(const Communicator& comm, bool known, Watchdog& dog) {
  const Watched watched(dog, "to learn which links are known");
  int word = known ? 1 : 0;
  check_mpi(MPI_Bcast(&word, 1, MPI_INT, 0, comm.handle()), "MPI_Bcast");
  return word != 0;
}

}  // namespace

std::optional<LinkCost> ModelLinks::of(const Communicator& comm, const Hosts& hosts, Watchdog& dog,
                                       std::chrono::milliseconds timeout) {
  if (comm.ranks() < 2) return std::nullopt;
  const int peer = hosts.first_elsewhere(comm.ranks());
  LinkCost& cost = by_peer_[peer];
  if (!said_by_rank_0(comm, cost.beta > 0.0, dog)) {
    LinkTurns turns(comm, dog, timeout);
    if (comm.rank() == 0 || comm.rank() == peer)
      cost = measured({comm, {.from = 0, .to = peer}, dog, [&turns] { turns.go_on(); }});
    if (comm.rank() == 0) turns.end();
    turns.await({0});
  }
  return cost;
}

}  // namespace collmark
