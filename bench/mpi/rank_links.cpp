#include "bench/mpi/rank_links.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

#include "bench/mpi/link_turns.hpp"
#include "bench/mpi/network_team.hpp"
#include "bench/mpi/rank_link.hpp"
#include "bench/mpi/watched_team.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr int kCopiesTogether = 5;

using HostName = std::array<char, 64>;

HostName host_name() {
  HostName name{};
  gethostname(name.data(), name.size() - 1);
  return name;
}

/// One way as its sender found it, in a form that ranks can exchange.
struct Found {
  Direction way;
  double flag = 0.0;                   // [s]
  double alone = 0.0, together = 0.0;  // [s] of a copy
};

/// What a rank sends, and where it receives.
std::vector<std::byte> message_of(Bytes size, int rank) {
  try {
    return std::vector<std::byte>(static_cast<std::size_t>(size.value));
  } catch (const std::bad_alloc&) {
    throw Error(
        ErrorKind::incomparable,
        fmt::format("--size: rank {} has no memory for a message of {} bytes", rank, size.value));
  }
}

std::unique_ptr<NetworkTeam> network_team(const Communicator& comm, Watchdog& dog) {
  const Watched watched(dog, "for the other ranks to begin with the links");
  return std::make_unique<NetworkTeam>(comm);
}

class LinkSurvey {
 public:
  LinkSurvey(const Communicator& comm, Bytes copied, const CaseContext& context)
      : comm_(comm),
        dog_(context.dog),
        data_(message_of(copied, comm.rank())),
        plain_(network_team(comm, context.dog)),
        team_(*plain_, context.dog),
        turns_(comm, context.dog, context.timeout) {}

  void run() {
    turns_.await({});  // all are here
    for (const std::vector<IndexPair>& round :
         disjoint_rounds(static_cast<std::size_t>(comm_.ranks()))) {
      for (const IndexPair& pair : round) {
        const auto a = static_cast<int>(pair.first), b = static_cast<int>(pair.second);
        for (const Direction& way : {Direction{a, b}, Direction{b, a}}) alone(way);
      }
      together(round);
    }
  }

  /// At rank 0.
  std::vector<PairLink> links() {
    const std::vector<Found> all = gathered_at_rank_0(team_, std::span<const Found>(found_));
    const HostName mine = host_name();
    const std::vector<HostName> hosts = gathered_at_rank_0(team_, std::span(&mine, 1));
    const Bytes copied{static_cast<std::int64_t>(data_.size())};
    std::vector<PairLink> links;
    for (const Found& f : all)
      links.push_back({.first = f.way.from,
                       .second = f.way.to,
                       .first_host = hosts[static_cast<std::size_t>(f.way.from)].data(),
                       .second_host = hosts[static_cast<std::size_t>(f.way.to)].data(),
                       .flag = Seconds{f.flag},
                       .copy_gb_per_s = gb_per_s(copied, Seconds{f.alone}),
                       .shared_gb_per_s = gb_per_s(copied, Seconds{f.together})});
    sort_by_pair(links);
    return links;
  }

 private:
  void alone(const Direction& way) {
    if (takes_part(way)) {
      RankLink link = link_of(way);
      const Seconds flag = link.flag(), copy = link.copy(data_, flag);
      if (comm_.rank() == way.from) {
        found_.push_back({.way = way, .flag = flag.count(), .alone = copy.count()});
        turns_.end();
      }
    }
    turns_.await({way.from});
  }

  /// First all lower ranks send, then all higher ones. The barrier lets them go closer together than the naps
  /// of those who await a turn would.
  void together(const std::vector<IndexPair>& round) {
    for (const bool upwards : {true, false}) {
      team_.barrier();
      std::vector<int> senders;
      for (const IndexPair& pair : round) {
        const auto a = static_cast<int>(pair.first), b = static_cast<int>(pair.second);
        const Direction way = upwards ? Direction{a, b} : Direction{b, a};
        senders.push_back(way.from);
        if (takes_part(way)) send_together(way);
      }
      turns_.await(senders);
    }
  }

  void send_together(const Direction& way) {
    const bool mine = comm_.rank() == way.from;
    const auto known = std::find_if(found_.begin(), found_.end(),
                                    [&](const Found& f) { return f.way.to == way.to; });
    const Seconds flag{mine ? known->flag : 0.0};
    const Seconds copy = link_of(way).copies(data_, flag, kCopiesTogether);
    if (!mine) return;
    known->together = copy.count();
    turns_.end();
  }

  [[nodiscard]] RankLink link_of(const Direction& way) {
    return {comm_, way, dog_, [this] { turns_.go_on(); }};
  }

  [[nodiscard]] bool takes_part(const Direction& way) const {
    return comm_.rank() == way.from || comm_.rank() == way.to;
  }

  const Communicator& comm_;
  Watchdog& dog_;
  std::vector<std::byte> data_;  // before the team, which no rank can leave alone
  std::unique_ptr<NetworkTeam> plain_;
  WatchedTeam team_;
  LinkTurns turns_;
  std::vector<Found> found_;  // one for each other rank
};

}  // namespace

std::vector<PairLink> measure_rank_links(const Communicator& comm, const LinksOrder& order,
                                         const CaseContext& context) {
  std::optional<LinkSurvey> survey;  // not unwound by what is given up
  try {
    survey.emplace(comm, order.copied, context).run();
    std::vector<PairLink> links = survey->links();
    const Watched watched(context.dog, "for the other ranks to end with the links");
    survey.reset();
    return links;
  } catch (const std::exception& e) {
    context.give_up(e);
    throw;
  }
}

}  // namespace collmark
