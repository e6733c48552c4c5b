#include "kernels/stub_nccl/communicator.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "kernels/stub_nccl/driver.hpp"

namespace collmark::stub {
namespace {

using nccl::Comm;
using nccl::Result;

constexpr int kQuestions = 3;

struct Member {
  int key;
  Comm comm;
};
/// One split of one communicator.
struct Split {
  int called = 0;
  std::map<int, std::vector<Member>> colors;
};

struct Everything {
  std::mutex mutex;
  std::optional<Faults> faults;
  std::string last_error;
  std::map<std::string, std::shared_ptr<Clique>> named;
  std::map<std::pair<Clique*, int>, Split> splits;
};
Everything& all() {
  static auto* const one = new Everything;  // streams may outlive whatever is destroyed at the end
  return *one;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// As NCCL since 2.24: "allreduce:Ring".
std::string without_function(const std::string& text) { return text.substr(text.find(':') + 1); }

void read_choice(Comm comm) {
  const std::string algorithm = variable("NCCL_ALGO"), protocol = variable("NCCL_PROTO");
  comm->forced = !algorithm.empty() || !protocol.empty();
  comm->algorithm = algorithm.empty() ? "RING" : upper(without_function(algorithm));
  comm->protocol = protocol.empty() ? "SIMPLE" : upper(without_function(protocol));
  const bool old = happens("old_form");
  if (comm->forced && old == ((algorithm + protocol).find(':') != std::string::npos)) {
    comm->error = Result::invalid_usage;
    set_last_error("Unrecognized token in NCCL_ALGO=" + algorithm + " NCCL_PROTO=" + protocol);
  }
}

Comm new_comm(int rank) {
  auto comm = std::make_unique<nccl::CommObject>();
  comm->rank = rank;
  comm->questions = kQuestions;
  comm->hangs = happens("hang_init");
  if (loaded_driver().get_current != nullptr) (void)loaded_driver().get_current(&comm->context);
  read_choice(comm.get());
  if (happens("init_error")) {
    comm->error = Result::system_error;
    set_last_error("Call to connect failed : Connection refused");
  }
  return comm.release();
}

void complete(Split& split) {
  for (auto& [color, members] : split.colors) {
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.key < b.key; });
    const auto clique = std::make_shared<Clique>(static_cast<int>(members.size()));
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i].comm->rank = static_cast<int>(i);
      members[i].comm->clique = clique;
      clique->join();
    }
  }
}

}  // namespace

void start_over() {
  const std::lock_guard lock(all().mutex);
  all().faults.emplace("COLLMARK_STUB_NCCL_FAULT");
  all().last_error.clear();
}

bool happens(const std::string& fault) { return all().faults && all().faults->happens(fault); }

void set_last_error(const std::string& text) {
  const std::lock_guard lock(all().mutex);
  all().last_error = text;
}

std::string last_error() {
  const std::lock_guard lock(all().mutex);
  return all().last_error;
}

Comm new_rank(const std::string& id, int ranks, int rank) {
  Comm const comm = new_comm(rank);
  const std::lock_guard lock(all().mutex);
  auto& clique = all().named[id];
  if (!clique) clique = std::make_shared<Clique>(ranks);
  comm->clique = clique;
  clique->join();
  return comm;
}

Comm split(Comm parent, int color, int key) {
  Comm const made = color == nccl::kNoColor ? nullptr : new_comm(key);
  const std::lock_guard lock(all().mutex);
  Clique* const clique = parent->clique.get();
  const auto [place, fresh] = all().splits.try_emplace({clique, parent->splits++});
  Split& split = place->second;
  if (made != nullptr) split.colors[color].push_back({key, made});
  if (++split.called == clique->ranks()) {
    complete(split);
    all().splits.erase(place);
  }
  return made;
}

Result state(Comm comm) {
  const std::lock_guard lock(all().mutex);
  if (comm->error != Result::success) return comm->error;
  if (comm->hangs || comm->clique == nullptr || !comm->clique->complete())
    return Result::in_progress;
  return comm->questions-- > 0 ? Result::in_progress : Result::success;
}

}  // namespace collmark::stub
