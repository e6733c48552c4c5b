#include "bench/gpu_knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace collmark {
namespace {

constexpr std::string_view kAuto = "auto";

/// Each once, in order of appearance.
std::vector<std::optional<std::int64_t>> values_of(const GpuKnob& knob,
                                                   const std::vector<GpuTuning>& tunings) {
  std::vector<std::optional<std::int64_t>> values;
  for (const GpuTuning& tuning : tunings) {
    const auto value = knob.asked(tuning);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

bool has_knobs(std::string_view backend) { return backend == "cuda"; }

std::vector<GpuTuning> tunings_on(std::string_view backend, const std::vector<GpuTuning>& asked) {
  return has_knobs(backend) ? asked : std::vector<GpuTuning>{{}};
}

std::string asked_text(const GpuTuning& tuning) {
  std::vector<std::string> words;
  for (const GpuKnob& knob : kGpuKnobs)
    if (const auto value = knob.asked(tuning))
      words.push_back(fmt::format("{}={}", knob.name, *value));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string value_text(const GpuKnob& knob, const GpuTuning& tuning) {
  const auto value = knob.asked(tuning);
  return value ? std::to_string(*value) : std::string(kAuto);
}

std::vector<GpuKnob> differing_knobs(const std::vector<GpuTuning>& tunings) {
  std::vector<GpuKnob> differing;
  std::copy_if(kGpuKnobs.begin(), kGpuKnobs.end(), std::back_inserter(differing),
               [&](const GpuKnob& knob) { return values_of(knob, tunings).size() > 1; });
  return differing;
}

void add_knobs(nlohmann::json& json, const std::vector<GpuTuning>& tunings) {
  for (const GpuKnob& knob : kGpuKnobs) {
    const auto values = values_of(knob, tunings);
    if (values == std::vector{std::optional<std::int64_t>()}) continue;
    for (const auto& value : values)
      json[std::string(knob.name)].push_back(value ? nlohmann::json(*value)
                                                   : nlohmann::json(kAuto));
  }
}

}  // namespace collmark
