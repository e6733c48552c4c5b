/// A libnvidia-ml for tests, beside the stub driver: it knows the stub's devices alone, by PCI addresses that no machine has
/// ("ffff:..."), and runs at clocks that no GPU has.
///
///   COLLMARK_STUB_NVML_HELD_BACK=MASK     what holds clocks back, from the second look at a device on; 1 (idle) before and
///                                         if it is not set
///   COLLMARK_STUB_NVML_FAULT=no_start     nvmlInit fails
///   COLLMARK_STUB_NVML_FAULT=no_power     it does not tell power
#include "kernels/nvml_abi.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace collmark::nvml {
namespace {

constexpr unsigned kSmMhz = 7, kMemoryMhz = 11, kMilliwatts = 1'500, kCelsius = 3;

bool is_fault(std::string_view name) {
  const char* const text = std::getenv("COLLMARK_STUB_NVML_FAULT");
  return text != nullptr && name == text;
}

int looks = 0;  // at reasons

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status nvmlInit_v2() { return is_fault("no_start") ? Status::not_found : Status::success; }

Status nvmlShutdown() { return Status::success; }

Status nvmlDeviceGetHandleByPciBusId_v2(const char* pci, Device* device) {
  static char place;
  if (std::strncmp(pci, "ffff:", 5) != 0) return Status::not_found;
  return *device = reinterpret_cast<Device>(&place), Status::success;
}

Status nvmlDeviceGetClockInfo(Device, Clock which, unsigned* mhz) {
  return *mhz = which == Clock::sm ? kSmMhz : kMemoryMhz, Status::success;
}

Status nvmlDeviceGetPowerUsage(Device, unsigned* milliwatts) {
  if (is_fault("no_power")) return Status::not_supported;
  return *milliwatts = kMilliwatts, Status::success;
}

Status nvmlDeviceGetTemperature(Device, Sensor, unsigned* celsius) {
  return *celsius = kCelsius, Status::success;
}

Status nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* reasons) {
  const char* const text = std::getenv("COLLMARK_STUB_NVML_HELD_BACK");
  *reasons = ++looks > 1 && text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
  return Status::success;
}

}  // extern "C"
#pragma GCC visibility pop

#define COLLMARK_SAME(name, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Functions::name)>);
COLLMARK_NVML_FUNCTIONS(COLLMARK_SAME)
#undef COLLMARK_SAME

}  // namespace collmark::nvml
