#include "kernels/nccl/nccl_choice.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

namespace collmark {
namespace {

constexpr int kPrefixesSince = 22400;

/// ncclFuncStr, src/misc/utils.cc; all_to_all and barrier are none.
std::string_view function_name(Collective collective) {
  constexpr std::array<std::string_view, 5> kNames{"allreduce", "reducescatter", "allgather",
                                                   "broadcast", "reduce"};  // by Collective
  return kNames.at(static_cast<std::size_t>(collective));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

std::string new_file() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/collmark-nccl-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return "";
  close(file);
  return path;
}

}  // namespace

Environment::~Environment() {
  while (!before_.empty()) {  // the latest first: a variable may have been set twice
    const auto& [name, value] = before_.back();
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    before_.pop_back();
  }
}

void Environment::set(const std::string& name, const std::string& value) {
  const char* const before = std::getenv(name.c_str());
  before_.emplace_back(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
  setenv(name.c_str(), value.c_str(), 1);
}

std::string ForcedChoice::setting(int version, Collective collective, const std::string& value) {
  if (version < kPrefixesSince) return value;
  return std::string(function_name(collective)) + ":" + value;
}

ForcedChoice::ForcedChoice(const Nccl& nccl, Collective collective, const NcclChoice& choice) {
  const auto force = [&](const char* variable, const std::string& value) {
    if (!value.empty()) environment_.set(variable, setting(nccl.version(), collective, value));
  };
  force("NCCL_ALGO", choice.algorithm);
  force("NCCL_PROTO", choice.protocol);
}

/// ncclResetDebugInit makes NCCL read the variables of its log anew (src/debug.cc). A log that somebody has asked for is
/// left to them.
TuningLog::TuningLog(const Nccl& nccl) : nccl_(nccl) {
  if (nccl->reset_debug_init == nullptr || is_set("NCCL_DEBUG") || is_set("NCCL_DEBUG_FILE"))
    return;
  path_ = new_file();
  if (path_.empty()) return;
  environment_.emplace();
  environment_->set("NCCL_DEBUG", "INFO");
  environment_->set("NCCL_DEBUG_SUBSYS", "TUNING");
  environment_->set("NCCL_DEBUG_FILE", path_);
  nccl->reset_debug_init();
}

TuningLog::~TuningLog() {
  if (path_.empty()) return;
  environment_.reset();
  nccl_->reset_debug_init();
  (void)std::remove(path_.c_str());
}

std::optional<TuningLog::Ran> TuningLog::ran() const {
  if (path_.empty()) return std::nullopt;
  std::stringstream text;
  text << std::ifstream(path_).rdbuf();
  return parse(text.str());
}

/// "AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}" (src/enqueue.cc, of NCCL 2.28). Older ones give
/// numbers, or nothing.
std::optional<TuningLog::Ran> TuningLog::parse(std::string_view text) {
  static const std::regex kLine(
      R"(Bytes -> Algo ([A-Za-z_]\w*) proto ([A-Za-z]\w*) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\})");
  const std::string all(text);
  std::optional<Ran> last;
  for (std::sregex_iterator it(all.begin(), all.end(), kLine), end; it != end; ++it)
    last = Ran{.algorithm = lower((*it)[1]),
               .protocol = lower((*it)[2]),
               .channels = std::stoi((*it)[4]) - std::stoi((*it)[3]) + 1};
  return last;
}

}  // namespace collmark
