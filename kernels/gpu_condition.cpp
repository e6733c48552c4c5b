#include "kernels/gpu_condition.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace collmark {
namespace {

struct Reason {
  unsigned long long bit;
  std::string_view name;
};
// 1 and 2 are an idle GPU and clocks set by somebody, 0x100 those of a display.
//   Source  nvml.h, nvmlClocksEventReasons (nvmlClocksThrottleReasons before driver R535)
constexpr std::array kReasons{
    Reason{0x04, "sw_power_cap"},        Reason{0x08, "hw_slowdown"},
    Reason{0x10, "sync_boost"},          Reason{0x20, "sw_thermal_slowdown"},
    Reason{0x40, "hw_thermal_slowdown"}, Reason{0x80, "hw_power_brake_slowdown"},
};

template <class T, class Choose>
std::optional<T> either(const std::optional<T>& a, const std::optional<T>& b, Choose choose) {
  if (!a || !b) return a ? a : b;
  return choose(*a, *b);
}

template <class T>
T lower(T a, T b) {
  return std::min(a, b);
}
template <class T>
T higher(T a, T b) {
  return std::max(a, b);
}

std::string library_path() {
  const char* const chosen = std::getenv("COLLMARK_NVML");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libnvidia-ml.so.1";
}

template <class Function>
bool resolves(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

GpuCondition worst(const GpuCondition& a, const GpuCondition& b) {
  return {.sm_mhz = either(a.sm_mhz, b.sm_mhz, lower<int>),
          .memory_mhz = either(a.memory_mhz, b.memory_mhz, lower<int>),
          .watts = either(a.watts, b.watts, higher<double>),
          .celsius = either(a.celsius, b.celsius, higher<int>),
          .held_back = either(a.held_back, b.held_back,
                              [](unsigned long long x, unsigned long long y) { return x | y; })};
}

std::string throttling(unsigned long long held_back) {
  std::string names;
  for (const Reason& reason : kReasons)
    if ((held_back & reason.bit) != 0)
      names += (names.empty() ? "" : "+") + std::string(reason.name);
  return names.empty() ? "no" : names;
}

void GpuMonitor::Library::operator()(void* handle) const { dlclose(handle); }

GpuMonitor::GpuMonitor() : obstacle_(open()) {
  if (!obstacle_.empty()) library_.reset();
}

GpuMonitor::~GpuMonitor() {
  if (library_) (void)functions_.shutdown();
}

std::string GpuMonitor::open() {
  library_.reset(dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library_) return std::string("no NVML: ") + dlerror();
#define COLLMARK_RESOLVE(name, symbol, parameters)         \
  if (!resolves(library_.get(), #symbol, functions_.name)) \
    return std::string("NVML has no ") + #symbol;
  COLLMARK_NVML_FUNCTIONS(COLLMARK_RESOLVE)
#undef COLLMARK_RESOLVE
  const nvml::Status status = functions_.init();
  if (status == nvml::Status::success) return "";
  return "NVML does not start: error " + std::to_string(static_cast<int>(status));
}

GpuCondition GpuMonitor::look(const std::string& pci) const {
  nvml::Device device = nullptr;
  if (!library_ || functions_.device_by_pci(pci.c_str(), &device) != nvml::Status::success)
    return {};
  const auto known = [](nvml::Status status, auto value) {
    return status == nvml::Status::success ? std::optional(value) : std::nullopt;
  };
  const auto clock = [&](nvml::Clock which) {
    unsigned mhz = 0;
    const nvml::Status status = functions_.clock_info(device, which, &mhz);
    return known(status, static_cast<int>(mhz));
  };
  unsigned milliwatts = 0, celsius = 0;
  unsigned long long reasons = 0;
  const nvml::Status power = functions_.power_usage(device, &milliwatts);
  const nvml::Status heat = functions_.temperature(device, nvml::Sensor::gpu, &celsius);
  const nvml::Status held = functions_.clocks_held_back(device, &reasons);
  return {.sm_mhz = clock(nvml::Clock::sm),
          .memory_mhz = clock(nvml::Clock::memory),
          .watts = known(power, milliwatts / 1e3),
          .celsius = known(heat, static_cast<int>(celsius)),
          .held_back = known(held, reasons)};
}

}  // namespace collmark
