/// The part of NVIDIA's management library that collmark calls, as libnvidia-ml.so.1 exports it. Declared here for the same
/// reasons as driver_abi.hpp.
///   Source  NVML API Reference Guide, NVIDIA; nvml.h
#pragma once

namespace collmark::nvml {

enum class Status : int { success = 0, not_supported = 3, not_found = 6 };
enum class Clock : int { sm = 1, memory = 2 };
enum class Sensor : int { gpu = 0 };

struct DeviceObject;
using Device = DeviceObject*;

/// F(name of the member, exported symbol, parameters)
#define COLLMARK_NVML_FUNCTIONS(F)                                                            \
  F(init, nvmlInit_v2, ())                                                                    \
  F(shutdown, nvmlShutdown, ())                                                               \
  F(device_by_pci, nvmlDeviceGetHandleByPciBusId_v2, (const char* pci, Device* device))       \
  F(clock_info, nvmlDeviceGetClockInfo, (Device device, Clock which, unsigned* mhz))          \
  F(power_usage, nvmlDeviceGetPowerUsage, (Device device, unsigned* milliwatts))              \
  F(temperature, nvmlDeviceGetTemperature, (Device device, Sensor sensor, unsigned* celsius)) \
  F(clocks_held_back, nvmlDeviceGetCurrentClocksThrottleReasons,                              \
    (Device device, unsigned long long* reasons))

struct Functions {
#define COLLMARK_MEMBER(name, symbol, parameters) Status(*name) parameters = nullptr;
  COLLMARK_NVML_FUNCTIONS(COLLMARK_MEMBER)
#undef COLLMARK_MEMBER
};

}  // namespace collmark::nvml
