#include "bench/mpi/library_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <regex>

#include "bench/library_rules.hpp"
#include "bench/mpi_support.hpp"
#include "bench/size_grammar.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {
namespace {

constexpr const char* kFallback = "MPIR_CVAR_COLLECTIVE_FALLBACK";  // 0: a fall-back is an error
constexpr const char* kDynamic = "coll_tuned_use_dynamic_rules";

/// As variables call it: allreduce, bcast.
std::string call_of(Collective collective) {
  constexpr std::array kCalls{"allreduce", "reduce_scatter", "allgather", "bcast",
                              "reduce",    "alltoall",       "barrier"};  // by Collective
  return kCalls[static_cast<std::size_t>(collective)];
}

/// The call that answers a case: chunks that differ in size are gathered by another one.
std::string call_of(const Case& c) {
  const bool uneven = c.collective == Collective::all_gather && c.count.value % c.ranks != 0;
  return uneven ? "allgatherv" : call_of(c.collective);
}

std::string open_mpi_variable(const std::string& call) {
  return fmt::format("coll_tuned_{}_algorithm", call);
}

std::string open_mpi_segment_variable(const std::string& call) {
  return open_mpi_variable(call) + "_segmentsize";
}

/// Whoever has set it, the user's environment or parameter file too; 0: not cut, or not by this algorithm.
Bytes segment_in_force(const std::string& call, const LibraryAlgorithm& chosen) {
  const auto segment = ControlVariable::find(open_mpi_segment_variable(call));
  return {chosen.segments && segment ? std::max(segment->value(), 0) : 0};
}

std::string parameter_of(Bytes segment) {
  return segment.value > 0 ? fmt::format(":{}", spelled(segment)) : "";
}

std::string mpich_variable(std::string call, std::string_view what) {
  std::transform(call.begin(), call.end(), call.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("MPIR_CVAR_{}_{}", call, what);
}

/// MPICH 4.0 numbers its algorithms in the order in which its description has them, and runs the lines of that
/// together: "... smp algorithmrecursive_doubling - Force recursive ...". So a name that is not known here counts,
/// but cannot be had.
std::vector<ControlVariable::Choice> choices_described(const std::string& text) {
  constexpr std::array<std::string_view, 17> kKnown{"scatter_recursive_doubling_allgather",
                                                    "pairwise_sendrecv_replace",
                                                    "reduce_scatter_allgather",
                                                    "scatter_ring_allgather",
                                                    "reduce_scatter_gather",
                                                    "recursive_doubling",
                                                    "recursive_halving",
                                                    "noncommutative",
                                                    "dissemination",
                                                    "scattered",
                                                    "binomial",
                                                    "pairwise",
                                                    "brucks",
                                                    "auto",
                                                    "ring",
                                                    "smp",
                                                    "nb"};  // longest first
  static const std::regex item(R"((\w+)\s+- (?:Force|Internal))");
  std::vector<ControlVariable::Choice> all;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), item); at != std::sregex_iterator();
       ++at) {
    const std::string word = (*at)[1];
    const auto* const name =
        std::find_if(kKnown.begin(), kKnown.end(), [&](std::string_view known) {
          return word.ends_with(known) &&
                 (word.size() == known.size() || word[word.size() - known.size() - 1] != '_');
        });
    const int number = static_cast<int>(all.size());
    all.push_back({number, name == kKnown.end() ? "" : std::string(*name)});
  }
  return all;
}

std::vector<LibraryAlgorithm> algorithms_of(Collective collective, const std::string& call) {
  std::vector<ControlVariable::Choice> choices;
  const auto open_mpi = ControlVariable::find(open_mpi_variable(call));
  if (open_mpi)
    choices = open_mpi->choices();
  else if (const auto mpich = ControlVariable::find(mpich_variable(call, "INTRA_ALGORITHM")))
    choices = choices_described(mpich->description());
  std::vector<LibraryAlgorithm> all;
  for (const auto& [number, name] : choices)  // 0: the library's own choice
    if (number > 0 && !name.empty())
      all.push_back({.name = usual_name(name),
                     .theirs = name,
                     .number = number,
                     .segments = open_mpi && open_mpi_cuts(collective, usual_name(name))});
  return all;
}

/// A name may be known for chunks of one size and not for others, which another call gathers.
const LibraryAlgorithm& chosen_for(const Case& c, const LibraryName& name,
                                   const std::vector<LibraryAlgorithm>& choices) {
  try {
    return choose_library_algorithm(c.collective, name, choices);
  } catch (const Error& e) {
    throw Unsupported(fmt::format("MPI_{}: {}", call_of(c), e.what()));
  }
}

LibraryCall call_with(const Case& c, std::string_view algorithm, Bytes segment) {
  return {.collective = c.collective,
          .algorithm = algorithm,
          .ranks = c.ranks,
          .count = c.count,
          .element = size_of(c.dtype),
          .segment = segment};
}

/// The algorithm that answers, and the segments that the user wants, if it is the one that cuts.
std::string open_mpi_row(const Case& c, const std::string& call, const LibraryAlgorithm& forced) {
  const Bytes segment = segment_in_force(call, forced);
  const std::string runs = open_mpi_runs(call_with(c, forced.name, segment));
  return runs == forced.name ? runs + parameter_of(segment) : runs;
}

/// What a rank of a job with Open MPI must know before it sets anything.
void require_tuned(const Case& c) {
  const auto dynamic = ControlVariable::find(kDynamic);
  if (!dynamic || dynamic->value() == 0)
    throw Unsupported(
        fmt::format("{} is 0 in this job: Open MPI would ignore a forced algorithm", kDynamic));
  if (c.ranks == 1)
    throw Unsupported("1 rank: Open MPI copies, and has no algorithms to choose from");
}

/// What MPICH 4.0.2 neither does nor refuses: it ends the process (tried on one host).
void require_no_abort(const Case& c, const LibraryAlgorithm& chosen) {
  const bool power_of_two = (c.ranks & (c.ranks - 1)) == 0;
  if (c.collective == Collective::barrier && chosen.theirs == "smp")
    throw Unsupported("MPICH ends the job while all barriers are forced to be smp");
  if (chosen.theirs == "noncommutative" && (!power_of_two || c.count.value % c.ranks != 0))
    throw Unsupported(fmt::format(
        "noncommutative wants a power of two of ranks and equal parts, not {} elements on {} ranks",
        c.count.value, c.ranks));
}

}  // namespace

std::vector<LibraryAlgorithm> library_algorithms(Collective collective) {
  return algorithms_of(collective, call_of(collective));
}

DynamicRules announce_forced_algorithms() {
  const std::string variable = fmt::format("OMPI_MCA_{}", kDynamic);
  if (std::getenv(variable.c_str()) != nullptr) return DynamicRules::users;
  constexpr int kKeep = 0;
  setenv(variable.c_str(), "1", kKeep);
  return DynamicRules::ours;
}

OwnChoice::OwnChoice(const Case& c, DynamicRules rules) {
  const std::string call = call_of(c);
  const auto open_mpi = ControlVariable::find(open_mpi_variable(call));
  if (open_mpi && rules == DynamicRules::ours) {
    ignored_.emplace(open_mpi_variable(call), 0);
    return;
  }
  const auto dynamic = ControlVariable::find(kDynamic);
  if (open_mpi && (c.ranks == 1 || !dynamic || dynamic->value() == 0)) return;
  const auto forced =
      open_mpi ? open_mpi : ControlVariable::find(mpich_variable(call, "INTRA_ALGORITHM"));
  const int number = forced ? forced->value() : 0;
  for (const LibraryAlgorithm& a : algorithms_of(c.collective, call))
    if (a.number == number) runs_ = open_mpi ? open_mpi_row(c, call, a) : a.name;
}

OwnChoice::~OwnChoice() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

/// By all ranks, whatever each has in its environment: Open MPI looks at the variable when a communicator is made.
MPI_Comm OwnChoice::duplicate(MPI_Comm like) {
  if (!ignored_) return like;
  check_mpi(MPI_Comm_dup(like, &comm_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  ignored_.reset();
  return comm_;
}

std::string OwnChoice::row_name() const { return runs_.empty() ? "library" : "library->" + runs_; }

ForcedAlgorithm::ForcedAlgorithm(const Case& c) {
  const LibraryName name = parse_library_name(c.algorithm);
  const std::string call = call_of(c);
  const std::vector<LibraryAlgorithm> choices = algorithms_of(c.collective, call);
  if (choices.empty())
    throw Unsupported(fmt::format("'{}': {} has no variable that chooses the algorithm of MPI_{}",
                                  c.algorithm, mpi_library(), call));
  const LibraryAlgorithm& chosen = chosen_for(c, name, choices);
  name_ = runs_ = chosen.name;
  parameter_ = name.parameter;
  if (ControlVariable::find(open_mpi_variable(call))) {
    require_tuned(c);
    settings_.emplace_back(open_mpi_variable(call), chosen.number);
    if (name.segment.value > 0)
      settings_.emplace_back(open_mpi_segment_variable(call), static_cast<int>(name.segment.value));
    const Bytes segment = segment_in_force(call, chosen);
    if (parameter_.empty()) parameter_ = parameter_of(segment);
    runs_ = open_mpi_runs(call_with(c, chosen.name, segment));
  } else {
    require_no_abort(c, chosen);
    settings_.emplace_back(mpich_variable(call, "INTRA_ALGORITHM"), chosen.number);
    settings_.emplace_back(mpich_variable(call, "DEVICE_COLLECTIVE"), 0);
  }
}

ForcedAlgorithm::~ForcedAlgorithm() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

MPI_Comm ForcedAlgorithm::duplicate(MPI_Comm like) {
  MPI_Info info = MPI_INFO_NULL;
  check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  check_mpi(MPI_Info_set(info, "ompi_comm_coll_preference", "tuned"), "MPI_Info_set");
  check_mpi(MPI_Comm_dup_with_info(like, info, &comm_), "MPI_Comm_dup_with_info");
  MPI_Info_free(&info);
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return comm_;
}

std::optional<Setting> ForcedAlgorithm::refusing_fallbacks() const {
  if (!ControlVariable::find(kFallback)) return std::nullopt;
  return std::optional<Setting>(std::in_place, kFallback, 0);
}

std::string ForcedAlgorithm::row_name() const {
  const std::string asked = fmt::format("library:{}{}", name_, parameter_);
  return runs_ == name_ ? asked : fmt::format("{}->{}", asked, runs_);
}

}  // namespace collmark
