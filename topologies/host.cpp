#include "topologies/host.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

namespace collmark {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The value behind `key` in a file of "key : value" lines.
std::string value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(static_cast<std::size_t>(c), &set)) cores.push_back(c);
  return cores;
}

std::int64_t cache_bytes(int core, int level) {
  const std::string base = "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string dir = base + std::to_string(i) + "/";
    if (first_line(dir + "level") != std::to_string(level)) continue;
    if (first_line(dir + "type") == "Instruction") continue;
    std::istringstream text(first_line(dir + "size"));  // "32768K"
    std::int64_t amount = 0;
    char unit = ' ';
    text >> amount >> unit;
    return unit == 'M' ? amount << 20 : unit == 'K' ? amount << 10 : amount;
  }
  return 0;
}

/// The word in brackets: "always [madvise] never".
std::string chosen(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return "unknown";
  return line.substr(open + 1, close - open - 1);
}

}  // namespace

std::size_t count_physical_cores(const std::vector<int>& cores, const std::string& sysfs) {
  std::set<std::string> physical;  // each as the list of its threads
  for (const int core : cores) {
    const std::string cpu = "/cpu" + std::to_string(core);
    std::string path = sysfs;
    path += cpu;
    path += "/topology/thread_siblings_list";
    const std::string threads = first_line(path);
    physical.insert(threads.empty() ? "unknown " + cpu : threads);
  }
  return physical.size();
}

Host this_host() {
  Host host;
  utsname names{};
  if (uname(&names) == 0) {
    host.name = names.nodename;
    host.kernel = std::string(names.sysname) + " " + names.release;
  }
  host.cpu = value_of("/proc/cpuinfo", "model name");
  host.cores = allowed_cores();
  host.physical_cores = count_physical_cores(host.cores);
  const int core = host.cores.empty() ? 0 : host.cores.front();
  host.l2_cache = cache_bytes(core, 2);
  host.last_level_cache = cache_bytes(core, 3);
  if (host.last_level_cache == 0) host.last_level_cache = host.l2_cache;
  std::istringstream available(value_of("/proc/meminfo", "MemAvailable"));
  std::int64_t kib = 0;
  available >> kib;
  host.memory_available = kib << 10;
  host.huge_pages = chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  return host;
}

}  // namespace collmark
