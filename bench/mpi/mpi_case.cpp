#include "bench/mpi/mpi_case.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "bench/mpi/host_team.hpp"
#include "bench/mpi/library_collective.hpp"
#include "bench/mpi/mpi_operation.hpp"
#include "bench/mpi/network_team.hpp"
#include "bench/mpi/watched_team.hpp"
#include "bench/mpi_support.hpp"
#include "bench/proof.hpp"
#include "bench/test_hooks.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

bool is_library(const Case& c) { return collmark::is_library(c.algorithm); }
bool is_forced(const Case& c) { return is_library(c) && c.algorithm != "library"; }

/// Why a rank cannot take part, in a form that all ranks can exchange.
struct Obstacle {
  Status status = Status::ok;
  std::array<char, 500> reason{};

  [[nodiscard]] static Obstacle skip(std::string_view why) { return make(Status::skipped, why); }
  [[nodiscard]] static Obstacle make(Status status, std::string_view why) {
    Obstacle o{.status = status};
    std::copy_n(why.begin(), std::min(why.size(), o.reason.size() - 1), o.reason.begin());
    return o;
  }
};

/// The first rank's that has one; the same on all ranks.
Obstacle agreed(Team& team, const Obstacle& mine) {
  const std::vector<Obstacle> all = gathered_at_rank_0(team, std::span(&mine, 1));
  return decided_by_rank_0(team, [&] {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [](const Obstacle& o) { return o.status != Status::ok; });
    return found == all.end() ? Obstacle{} : *found;
  });
}

/// What `prepare` throws if the case is at fault and not the job.
template <class Prepare>
Obstacle obstacle_of(const Prepare& prepare) {
  try {
    prepare();
  } catch (const Unsupported& e) {
    return Obstacle::skip(e.what());
  } catch (const std::bad_alloc&) {
    return Obstacle::skip("out of memory");
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::usage) throw;
    return Obstacle::make(Status::failed, e.what());  // a file that this host lacks
  }
  return {};
}

/// Buffers, as much again for what an executor may copy aside, and what is walked to empty the caches: on
/// this host, by all ranks that share it.
Bytes memory_needed(const Case& c, int neighbours, Bytes walked) {
  const int per_rank = c.placement == Placement::in_place ? 2 : 3;
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (c.size().value > kMost / (std::int64_t{per_rank} * neighbours) - walked.value) return {kMost};
  return (c.size() * per_rank + walked) * neighbours;
}

/// At rank 0: the word that all ranks say of their buffers, "mixed" if they do not agree.
std::string pages_of_all(Team& team, const std::string& mine) {
  std::array<char, 16> word{};
  std::copy_n(mine.begin(), std::min(mine.size(), word.size() - 1), word.begin());
  const auto all = gathered_at_rank_0(team, std::span<const std::array<char, 16>>(&word, 1));
  const bool agree = std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
  return agree ? mine : "mixed";
}

/// One rank's way through one case.
class RankCase {
 public:
  RankCase(const Communicator& comm, const Case& c, const CaseContext& context)
      : comm_(comm), case_(c), context_(context) {
    const Watched watched(context.dog, "for the other ranks to begin a case");
    if (context.hosts.count(comm.ranks()) == 1)
      near_ = std::make_unique<HostTeam>(comm.handle());
    else
      far_ = std::make_unique<NetworkTeam>(comm);
    result_ = {.implementation = is_library(c) ? mpi_library() : "collmark",
               .algorithm = c.algorithm,
               .nodes = context.hosts.count(comm.ranks()),
               .oversubscribed = near_ && near_->crowded()};
  }

  CaseResult run() {
    WatchedTeam team(plain_team(), context_.dog);
    Obstacle found = agreed(team, obstacle_of([this] { examine(); }));
    if (found.status == Status::ok) found = agreed(team, obstacle_of([this] { allocate(); }));
    if (found.status == Status::ok && forced_)
      found = agreed(team, obstacle_of([this] { try_out(); }));
    if (found.status != Status::ok) {
      result_.status = found.status;
      result_.reason = found.reason.data();
      return result_;
    }
    measure_all(team);
    return result_;
  }

 private:
  Team& plain_team() {
    if (near_) return *near_;
    return *far_;
  }

  /// Before anybody allocates: what a neighbour has taken must not count twice.
  void examine() {
    if (case_.collective == Collective::all_to_all && case_.placement == Placement::in_place)
      throw Unsupported("all_to_all in place: blocks would overwrite others not yet sent");
    const auto [algorithm, variant, launching] = split_variant(case_.algorithm);
    if (launching == Launching::graph || (variant != Variant::plain && variant != Variant::window))
      throw Unsupported("a variant of kernels, --backend cuda");
    if (variant == Variant::window && result_.nodes > 1)
      throw Unsupported(
          fmt::format("a shared-memory window needs all {} ranks on one host, they are on {}",
                      comm_.ranks(), result_.nodes));
    const Host host = this_host();
    if (case_.measure.cache == CacheState::cold) walk_size_ = {2 * host.last_level_cache};
    const int neighbours = context_.hosts.neighbours(comm_.rank(), comm_.ranks());
    const std::string obstacle =
        memory_obstacle(memory_needed(case_, neighbours, walk_size_), {host.memory_available});
    if (!obstacle.empty()) throw Unsupported(obstacle);
    shape_ = is_library(case_) ? library_shape(case_)
                               : build(case_.collective, algorithm, case_.ranks, case_.root);
    const std::string wrong = is_library(case_) ? "" : disproof(algorithm, shape_);
    if (!wrong.empty()) throw Error(ErrorKind::usage, wrong);
    if (is_library(case_)) choose();
  }

  void choose() {
    if (is_forced(case_))
      forced_.emplace(case_);
    else
      own_.emplace(case_, context_.dynamic_rules);
    result_.algorithm =
        (forced_ ? forced_->row_name() : own_->row_name()) + LibraryCollective::additions(case_);
  }

  void allocate() {
    operation_ = std::make_unique<MpiOperation>(shape_, case_, comm_.rank(), work());
    to_walk_ = PageBuffer(walk_size_);
    const auto size = static_cast<std::size_t>(walk_size_.value);
    if (size > 0) std::memset(to_walk_.data(), 1, size);
    operation_->attach({to_walk_.data(), size}, context_.dog);
  }

  RankWork work() {
    if (split_variant(case_.algorithm).variant == Variant::window) {
      const Watched watched(context_.dog, "for the other ranks to share a window");
      return work_in_window(comm_, shape_, case_, context_.timeout);
    }
    MPI_Comm comm = called_on();  // first: all ranks make it, and any of them may fail below
    return work_on_own_pages(
        case_, [this, comm](const RankBuffers& where) -> std::unique_ptr<RankCollective> {
          if (is_library(case_))
            return std::make_unique<LibraryCollective>(comm, shape_, case_, where);
          const Payload payload{case_.count, case_.dtype, case_.op};
          return std::make_unique<ScheduledCollective>(comm_, shape_, MessageData{payload, where},
                                                       MessageOptions{.timeout = context_.timeout});
        });
  }

  MPI_Comm called_on() {
    if (!is_library(case_)) return comm_.handle();
    const Watched watched(context_.dog, "for the other ranks to force an algorithm, or none");
    return forced_ ? forced_->duplicate(comm_.handle()) : own_->duplicate(comm_.handle());
  }

  /// What a forced algorithm cannot do it refuses at all ranks alike, and none of them waits for another.
  void try_out() {
    const std::optional<Setting> strict = forced_->refusing_fallbacks();
    try {
      operation_->run();
    } catch (const Error& e) {
      throw Unsupported(fmt::format("{}: {}", case_.algorithm, e.what()));
    }
  }

  void measure_all(Team& team) {
    MpiOperation& counted = *operation_;
    const std::unique_ptr<Operation> operation =
        with_faults(std::move(operation_), test_hooks_from_environment(), comm_.rank(),
                    {counted.output(), case_.size()});
    result_.link = context_.links.of(comm_, context_.hosts, context_.dog, context_.timeout);
    result_.flag_ns = flag_time();
    result_.measurement = measure(team, *operation, case_.measure);
    result_.flag_after_ns = flag_time();
    count_traffic(team, counted);
    result_.pages = pages_of_all(team, pages_under(counted.buffers()));
    if (result_.measurement.correct()) return;
    result_.status = Status::failed;
    result_.reason = describe(result_.measurement.check, case_.dtype);
  }

  /// Ranks that share a core would measure the scheduler.
  std::optional<double> flag_time() {
    if (!near_ || near_->crowded() || near_->ranks() < 2) return std::nullopt;
    const Watched watched(context_.dog, "for a flag of another rank");
    return near_->flag_ns();
  }

  void count_traffic(Team& team, const MpiOperation& operation) {
    const std::optional<Moved> mine = [&] {
      const Watched watched(context_.dog, "for the other ranks to say what they moved");
      return operation.counted();
    }();
    if (!mine) return;
    const std::vector<Moved> all = gathered_at_rank_0(team, std::span(&*mine, 1));
    Bytes busiest;
    int messages = 0;
    for (const Moved& moved : all) {
      busiest = std::max({busiest, moved.sent, moved.received});
      messages = std::max(messages, moved.messages);
    }
    result_.wire_busiest = busiest;
    result_.messages_busiest = messages;
    result_.rounds = shape_.steps;
    const Elements largest = Partition(shape_, case_.count).largest();
    result_.chunk = Bytes{largest.value * static_cast<std::int64_t>(size_of(case_.dtype))};
  }

  const Communicator& comm_;
  const Case& case_;
  const CaseContext& context_;
  std::unique_ptr<HostTeam> near_;    // on one host, ...
  std::unique_ptr<NetworkTeam> far_;  // ... or on several
  CaseResult result_;
  std::optional<ForcedAlgorithm> forced_;
  std::optional<OwnChoice> own_;
  Schedule shape_;
  Bytes walk_size_;
  PageBuffer to_walk_;
  std::unique_ptr<MpiOperation> operation_;
};

}  // namespace

CaseResult run_case(const Communicator& comm, const Case& c, const CaseContext& context) {
  std::optional<RankCase> one;  // not unwound by what is given up
  try {
    CaseResult result = one.emplace(comm, c, context).run();
    const Watched watched(context.dog, "for the other ranks to end a case");
    one.reset();
    return result;
  } catch (const RankLeft&) {
    while (true) pause();
  } catch (const std::exception& e) {
    context.give_up(e);
    throw;
  }
}

}  // namespace collmark
