/// What may be asked of our kernels, knob by knob: its name in files and tables, and what stands there.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu_tuning.hpp"

namespace collmark {

struct GpuKnob {
  std::string_view name;
  std::optional<std::int64_t> (*asked)(const GpuTuning&);  // empty: left to the size and the device
};

inline constexpr std::array<GpuKnob, 5> kGpuKnobs{{
    {"channels", [](const GpuTuning& t) -> std::optional<std::int64_t> { return t.channels; }},
    {"threads", [](const GpuTuning& t) -> std::optional<std::int64_t> { return t.threads; }},
    {"slots", [](const GpuTuning& t) -> std::optional<std::int64_t> { return t.slots; }},
    {"slot_bytes",
     [](const GpuTuning& t) {
       return t.slot ? std::optional(t.slot->value) : std::optional<std::int64_t>();
     }},
    {"misaligned", [](const GpuTuning& t) -> std::optional<std::int64_t> { return t.misaligned; }},
}};

/// Whose ranks are kernels of ours.
[[nodiscard]] bool has_knobs(std::string_view backend);
/// What its cases are multiplied by: of a backend without knobs one that asks for nothing.
[[nodiscard]] std::vector<GpuTuning> tunings_on(std::string_view backend,
                                                const std::vector<GpuTuning>& asked);

/// "channels=8 slot_bytes=16384": what is asked for, without a word of what is not.
[[nodiscard]] std::string asked_text(const GpuTuning& tuning);
/// "8", or "auto".
[[nodiscard]] std::string value_text(const GpuKnob& knob, const GpuTuning& tuning);
/// Those that not all of `tunings` turn alike.
[[nodiscard]] std::vector<GpuKnob> differing_knobs(const std::vector<GpuTuning>& tunings);

/// Adds to a configuration what each knob takes, in order, as in "channels": ["auto", 8]. Nothing of one that is left alone.
void add_knobs(nlohmann::json& json, const std::vector<GpuTuning>& tunings);

}  // namespace collmark
