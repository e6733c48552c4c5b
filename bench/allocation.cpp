#include "bench/allocation.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "topologies/host.hpp"

namespace collmark {
namespace {

std::string text_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// Some say the domain and some do not.
std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

bool is_here(std::string_view host) { return short_name(host) == short_name(this_host().name); }

bool has_others(std::istream& hosts) {
  std::string host;
  bool others = true;  // of an empty list nothing is known
  while (hosts >> host) {
    if (!is_here(host)) return true;
    others = false;
  }
  return others;
}

/// A list of one node is its name; its daemon there may know it by another than the host's.
bool slurm_has_others() {
  const std::string nodes = text_of("SLURM_JOB_NODELIST");
  if (nodes.empty()) return false;
  if (text_of("SLURM_JOB_NUM_NODES") != "1" && text_of("SLURM_NNODES") != "1") return true;
  return nodes != text_of("SLURMD_NODENAME") && !is_here(nodes);
}

/// A line for each slot.
bool file_has_others(const char* variable) {
  const std::string path = text_of(variable);
  if (path.empty()) return false;
  std::ifstream file(path);
  return has_others(file);
}

bool list_has_others(const char* variable) {
  if (std::getenv(variable) == nullptr) return false;
  std::istringstream hosts(text_of(variable));
  return has_others(hosts);
}

}  // namespace

bool allocation_reaches_elsewhere() {
  return slurm_has_others() || file_has_others("PBS_NODEFILE") || list_has_others("LSB_HOSTS");
}

}  // namespace collmark
