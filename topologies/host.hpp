/// What this host is: cores we may run on, caches, memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace collmark {

struct Host {
  std::string name;
  std::string cpu;                    // model name
  std::vector<int> cores;             // the logical cores this process may run on, in order
  std::size_t physical_cores = 0;     // that these belong to
  std::int64_t last_level_cache = 0;  // [bytes], as seen by the first of them; 0 if unknown
  std::int64_t l2_cache = 0;          // [bytes]
  std::int64_t memory_available = 0;  // [bytes], what a program can still allocate
  std::string kernel;
  std::string huge_pages;  // transparent huge pages: always, madvise, never or unknown
};

/// Reads /proc, /sys and the affinity mask. Never fails: what cannot be read stays empty.
[[nodiscard]] Host this_host();

/// Of how many physical cores are these the threads? What is not in `sysfs` counts as a core of its own.
[[nodiscard]] std::size_t count_physical_cores(
    const std::vector<int>& cores, const std::string& sysfs = "/sys/devices/system/cpu");

}  // namespace collmark
