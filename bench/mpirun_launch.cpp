#include "bench/mpirun_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/first_sentence.hpp"
#include "bench/order_json.hpp"
#include "bench/output.hpp"
#include "bench/test_hooks.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{50};        // how late an interrupt may be seen
constexpr milliseconds kStart{120'000};  // for a launch
constexpr milliseconds kLater{2'000};    // and so long for a rank to say first that it took longer
constexpr milliseconds kEnd{5'000};      // for MPI_Finalize
constexpr int kEndsOfNccl = 3;           // timeouts
constexpr const char* kWell = "exit code 0";
constexpr milliseconds kLost{3'000};       // for mpirun to say that one is lost
constexpr std::size_t kRemembered = 4096;  // bytes of stderr

RankFailure failure_from(const Json& json) {
  return {.kind = static_cast<ErrorKind>(json.at("kind").get<int>()),
          .rank = json.at("rank").get<int>(),
          .what = json.at("what").get<std::string>()};
}

/// From the last order to the end of mpirun.
milliseconds farewell_of(const MpiJobOptions& options) {
  return kEndsOfNccl * options.timeout + end_limit(options) + kLater;
}

/// Where each rank runs; empty if rank 0 has not said so.
std::vector<RankProcess> processes_from(const Json& hello) {
  std::vector<RankProcess> all;
  for (const Json& p : hello.value("processes", Json::array()))
    all.push_back({.pid = p.at("pid").get<int>(), .host = p.at("host").get<std::string>()});
  return all;
}

}  // namespace

milliseconds start_limit(const MpiJobOptions& options) {
  const std::optional<int> test = test_hooks_from_environment().start_ms;
  return test ? milliseconds{*test} : std::max(kStart, options.timeout);
}

milliseconds end_limit(const MpiJobOptions& options) { return std::max(kEnd, options.timeout); }

MpirunLaunch::MpirunLaunch(const ChildCommand& command, const MpiJobOptions& options,
                           const std::atomic<bool>& interrupted)
    : options_(options), interrupted_(interrupted), mpirun_(command) {
  try {
    processes_ = processes_from(answer("hello", start_limit(options) + kLater));
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::interrupted || hung_) throw;
    const std::string words = first_sentence(heard_);
    throw Error(ErrorKind::absent,
                e.kind() == ErrorKind::absent || words.empty()
                    ? std::string(e.what())
                    : fmt::format("{} starts no ranks: {}", command.words.front(), words));
  }
}

MpirunLaunch::~MpirunLaunch() {
  if (broken_) return;
  mpirun_.close_input();
  (void)mpirun_.ended_within(kEnd);
}

MpiAnswer MpirunLaunch::carry_out(const MpiOrder& order) {
  ranks_ = ranks_of(order);
  try {
    if (!broken_) mpirun_.write_line(to_json(order).dump());
  } catch (const Error&) {  // nobody reads any more: why, answer() finds out
  }
  return answer_from_json(answer("result", std::nullopt));
}

/// Whether mpirun is still there decides, not its streams: what a rank has started may hold those open.
void MpirunLaunch::end() {
  if (broken_) return;
  ranks_ = static_cast<int>(processes_.size());
  mpirun_.close_input();
  const auto until = steady_clock::now() + farewell_of(options_);
  while (!mpirun_.ended_within(kLook)) {
    require_no_interrupt();
    hear_failures(milliseconds{0});
    if (steady_clock::now() > until) outstayed();
  }
  hear_failures(kLook);
  broken_ = true;
  if (mpirun_.ending() == kWell) return;
  if (const std::string who = lost_rank(heard_, processes_); !who.empty())
    throw Error(ErrorKind::lost, who);
  throw Error(ErrorKind::lost, "after the last case mpirun ended with " + mpirun_.ending());
}

/// All that has been said.
void MpirunLaunch::hear_failures(milliseconds wait) {
  while (const auto line = mpirun_.next_line(wait))
    if (const auto said = message_of(*line); said && said->contains("failure"))
      fail(failure_from(said->at("failure")));
}

/// Whether a rank is still there is known of those on this host.
void MpirunLaunch::outstayed() {
  broken_ = true;
  const std::string here = this_host().name;
  std::vector<std::string> who;
  for (std::size_t r = 0; r < processes_.size(); ++r)
    if (processes_[r].host == here && kill(processes_[r].pid, 0) == 0)
      who.push_back(fmt::format("rank {}", r));
  throw Error(ErrorKind::timed_out,
              fmt::format("{} had not ended {} s after the last order",
                          who.empty() ? "mpirun" : fmt::format("{}", fmt::join(who, ", ")),
                          static_cast<double>(farewell_of(options_).count()) / 1000.0));
}

void MpirunLaunch::require_no_interrupt() {
  if (!interrupted_.load(std::memory_order_relaxed)) return;
  broken_ = true;
  throw Error(ErrorKind::interrupted, "interrupted");
}

/// The next message that carries `key`.
Json MpirunLaunch::answer(const char* key, std::optional<milliseconds> limit) {
  const auto begin = steady_clock::now();
  while (true) {
    require_no_interrupt();
    if (const auto found = message(kLook)) {
      if (found->contains("failure")) fail(failure_from(found->at("failure")));
      if (found->contains(key)) return found->at(key);
    }
    if (mpirun_.silent()) lost();
    if (limit && steady_clock::now() - begin > *limit) {
      broken_ = true;
      throw Error(ErrorKind::timed_out,
                  fmt::format("no rank answered within {} s", limit->count() / 1000));
    }
  }
}

std::optional<Json> MpirunLaunch::message(milliseconds wait) {
  const auto line = mpirun_.next_line(wait);
  return line ? message_of(*line) : std::nullopt;
}

/// Empty if it is not one of ours.
std::optional<Json> MpirunLaunch::message_of(const ChildProcess::Line& line) {
  if (line.from == ChildProcess::From::out && line.text.starts_with('{')) {
    Json json = Json::parse(line.text, nullptr, false);
    if (json.is_object()) return json;
  }
  hear(line.text);
  return std::nullopt;
}

void MpirunLaunch::hear(const std::string& line) {
  heard_ += line + "\n";
  if (heard_.size() > 2 * kRemembered) heard_.erase(0, heard_.size() - kRemembered);
  say(line + "\n");
}

/// The first to complain is seldom the one at fault: ranks wait for each other in a chain. So the others
/// are heard too, until none that is new has spoken for half a timeout, and the one that says nothing is named.
void MpirunLaunch::fail(const RankFailure& first) {
  broken_ = true;
  hung_ = first.kind == ErrorKind::timed_out;
  std::string what = first.what;
  std::set<int> heard{first.rank};
  const milliseconds half = grace_of(options_.timeout);
  const milliseconds grace = hung_ ? half : std::min(half, kLost);
  auto last = steady_clock::now();
  const auto concerned = [&] {  // all ranks take part in forming the group of a case
    return *heard.rbegin() < ranks_ ? ranks_ : static_cast<int>(processes_.size());
  };
  while (static_cast<int>(heard.size()) < concerned() && steady_clock::now() - last < grace &&
         !mpirun_.silent())
    if (const auto next = message(kLook); next && next->contains("failure"))
      if (heard.insert(failure_from(next->at("failure")).rank).second) last = steady_clock::now();
  if (hung_) what += silent_ranks(concerned(), heard, grace);
  if (const std::string who = lost_rank(heard_, processes_); !who.empty())
    throw Error(ErrorKind::lost, who);
  throw Error(first.kind, what);
}

void MpirunLaunch::lost() {
  broken_ = true;
  const std::string who = lost_rank(heard_, processes_);
  if (!who.empty()) throw Error(ErrorKind::lost, who);
  (void)mpirun_.ended_within(kEnd);
  throw Error(ErrorKind::lost,
              fmt::format("all ranks are gone: mpirun ended with {}", mpirun_.ending()));
}

}  // namespace collmark
