#include "bench/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "bench/team.hpp"

namespace collmark {
namespace {

constexpr int kPieces = 200;
constexpr int kRounds = 200'000;  // of one piece: about 0.5 ms of dependent arithmetic
constexpr double kWideSpread = 0.10;
constexpr double kMuchSteal = 0.02;

/// Dependent arithmetic in registers: takes the same time whenever nothing interferes.
std::uint64_t fixed_work(std::uint64_t x) {
  for (int i = 0; i < kRounds; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

/// The "cpu" line of /proc/stat, in clock ticks.
struct Ticks {
  std::int64_t all = 0, stolen = 0;
};

std::optional<Ticks> ticks() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  Ticks t;
  constexpr int kSteal = 7;  // user nice system idle iowait irq softirq steal, proc(5)
  for (int i = 0; i <= kSteal; ++i) {
    std::int64_t value = 0;
    if (!(file >> value)) return std::nullopt;
    t.all += value;
    if (i == kSteal) t.stolen = value;
  }
  return t;
}

template <class T>
T first_of(const char* path) {
  std::ifstream file(path);
  T value{};
  file >> value;
  return value;
}

}  // namespace

Noise check_noise() {
  Noise noise{
      .load = first_of<double>("/proc/loadavg"),
      .governor = first_of<std::string>("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")};
  const std::optional<Ticks> before = ticks();
  std::vector<double> times;
  std::uint64_t x = 1;
  for (int i = 0; i < kPieces; ++i) {
    const auto begin = Clock::now();
    x = fixed_work(x);
    times.push_back(Seconds(Clock::now() - begin).count());
  }
  volatile std::uint64_t kept = x;  // so that the work is not optimised away
  (void)kept;
  std::sort(times.begin(), times.end());
  noise.spread = (quantile(times, 0.95) - times.front()) / times.front();
  const std::optional<Ticks> after = ticks();
  if (before && after && after->all > before->all)
    noise.steal = static_cast<double>(after->stolen - before->stolen) /
                  static_cast<double>(after->all - before->all);
  return noise;
}

std::string Noise::complaint(std::size_t cores) const {
  std::vector<std::string> all;
  if (spread > kWideSpread)
    all.push_back(fmt::format("fixed work varies by {:.0f} %", 100 * spread));
  if (load > 0.5 * static_cast<double>(cores) + 0.5)
    all.push_back(fmt::format("load {:.1f} on {} cores", load, cores));
  if (steal && *steal > kMuchSteal)
    all.push_back(fmt::format("the hypervisor takes {:.0f} % of the time", 100 * *steal));
  if (governor == "powersave" || governor == "ondemand")
    all.push_back(fmt::format("frequency governor {}", governor));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace collmark
