#include "bench/nccl_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

constexpr std::string_view kLibrary = "library";

struct Spelling {
  std::string_view usual, theirs;
};
/// ncclAlgoStr and ncclProtoStr of NCCL, src/misc/utils.cc.
constexpr std::array kAlgorithms{Spelling{"ring", "Ring"},
                                 Spelling{"tree", "Tree"},
                                 Spelling{"collnet_direct", "CollNetDirect"},
                                 Spelling{"collnet_chain", "CollNetChain"},
                                 Spelling{"nvls", "NVLS"},
                                 Spelling{"nvls_tree", "NVLSTree"},
                                 Spelling{"pat", "PAT"}};
constexpr std::array kProtocols{Spelling{"LL", "LL"}, Spelling{"LL128", "LL128"},
                                Spelling{"simple", "Simple"}};
constexpr std::string_view kGraph = "graph", kRegistered = "registered";

template <std::size_t N>
const Spelling* find(const std::array<Spelling, N>& list, std::string_view usual) {
  const auto* const found =
      std::find_if(list.begin(), list.end(), [&](const Spelling& s) { return s.usual == usual; });
  return found == list.end() ? nullptr : found;
}

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

[[noreturn]] void refuse(std::string_view text, std::string_view word, std::string_view what,
                         const std::vector<std::string>& known) {
  throw Error(ErrorKind::usage,
              fmt::format("'{}': NCCL has no {} '{}'{}; there are: {}", text, what, word,
                          did_you_mean(word, known), fmt::join(known, ", ")));
}

void read_algorithm(NcclName& name, std::string_view text, std::string_view word) {
  if (const Spelling* const found = find(kAlgorithms, word)) {
    name.choice.algorithm = found->theirs;
    return;
  }
  std::vector<std::string> known;
  for (const Spelling& s : kAlgorithms) known.emplace_back(s.usual);
  refuse(text, word, "algorithm", known);
}

void read_suffix(NcclName& name, std::string_view text, std::string_view word) {
  if (word == kGraph) {
    name.replayed = true;
  } else if (word == kRegistered) {
    name.buffers = NcclBuffers::registered;
  } else if (const Spelling* const found = find(kProtocols, word)) {
    name.choice.protocol = found->theirs;
  } else {
    std::vector<std::string> known{std::string(kGraph), std::string(kRegistered)};
    for (const Spelling& s : kProtocols) known.emplace_back(s.usual);
    refuse(text, word, "protocol or variant", known);
  }
}

}  // namespace

NcclName parse_nccl_name(std::string_view text) {
  NcclName name;
  std::string_view rest = text.substr(std::min(kLibrary.size(), text.size()));
  if (rest.starts_with(':')) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    read_algorithm(name, text, rest.substr(1, slash - 1));
    rest.remove_prefix(slash);
  }
  while (!rest.empty()) {
    const std::size_t next = std::min(rest.find('/', 1), rest.size());
    read_suffix(name, text, rest.substr(1, next - 1));
    rest.remove_prefix(next);
  }
  return name;
}

std::vector<std::string> nccl_algorithms(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return {"ring", "tree", "collnet_direct", "collnet_chain", "nvls", "nvls_tree"};
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return {"ring", "collnet_direct", "nvls", "pat"};
    case Collective::broadcast:
    case Collective::reduce:
      return {"ring"};
    case Collective::all_to_all:
    case Collective::barrier:
      break;
  }
  return {};
}

std::string usual_nccl_name(std::string_view theirs) {
  for (const Spelling& s : kAlgorithms)
    if (same(s.theirs, theirs)) return std::string(s.usual);
  for (const Spelling& s : kProtocols)
    if (same(s.theirs, theirs)) return std::string(s.usual);
  return std::string(theirs);
}

}  // namespace collmark
