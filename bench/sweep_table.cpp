#include "bench/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/gpu_knobs.hpp"

namespace collmark {
namespace {

const Measurement& measured(const Record& r) { return r.result.measurement; }
bool timed(const Record& r) { return r.result.status != Status::skipped && measured(r).time.n > 0; }

/// Half the width of the interval, in percent of the median: how much of a difference means
/// nothing.
std::string uncertainty(const Record& r) {
  const Summary& s = measured(r).time;
  if (!timed(r) || !s.interval || s.p50 <= 0.0) return "";
  return rounded(50.0 * (s.interval->high - s.interval->low) / s.p50, 2);
}

std::string in_gb(const std::optional<double>& bandwidth) {
  return bandwidth ? rounded(*bandwidth) : "";
}

std::string grouped_bytes(const std::optional<Bytes>& bytes) {
  return bytes ? grouped(bytes->value) : "";
}

std::string verdict(const Record& r) {
  const auto held_back = worst(r.result.gpu_before, r.result.gpu_after).held_back;
  const std::string throttled = held_back ? throttling(*held_back) : "no";
  if (r.result.status == Status::ok)
    return throttled == "no" ? "verified" : "verified, throttled by " + throttled;
  return fmt::format("{}: {}", name(r.result.status), r.result.reason);
}

std::string printed_size(const Record& r) { return readable(r.c.size()); }

int widest(const std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& word : words) width = std::max(width, word.size());
  return static_cast<int>(width);
}

constexpr int kLongestName = 26;  // of the catalogue, with a parameter or a variant

}  // namespace

std::vector<SweepTable::Field> SweepTable::fields(const SweepConfig& config) {
  std::vector<Field> all;
  const auto add_if = [&](auto count, Column column, std::string (*cell)(const Record&)) {
    if (count > 1) all.push_back({std::move(column), cell});
  };
  const auto word = [](std::string name, int width) {
    return Column{.name = std::move(name), .width = width, .align = Align::left};
  };
  const bool unknown_names =
      config.algorithms.size() == 1 && config.algorithms.front().starts_with("all");
  add_if(config.launches, {.name = "launch"},
         [](const Record& r) { return std::to_string(r.launch); });
  add_if(config.backends.size(), word("backend", 7), [](const Record& r) { return r.backend; });
  add_if(config.collectives.size(), word("collective", 14),
         [](const Record& r) { return std::string(name(r.c.collective)); });
  all.push_back({{.name = "ranks"}, [](const Record& r) { return std::to_string(r.c.ranks); }});
  all.push_back({{.name = "size", .width = 8}, printed_size});
  add_if(config.dtypes.size(), word("dtype", 5),
         [](const Record& r) { return std::string(name(r.c.dtype)); });
  add_if(config.ops.size(), word("op", 4),
         [](const Record& r) { return std::string(name(r.c.op)); });
  add_if(config.placements.size(), word("placement", 12),
         [](const Record& r) { return std::string(name(r.c.placement)); });
  add_if(config.caches.size(), word("cache", 9),
         [](const Record& r) { return std::string(name(r.c.measure.cache)); });
  add_if(config.modes.size(), word("mode", 10),
         [](const Record& r) { return std::string(name(r.c.measure.mode)); });
  all.push_back({word("algorithm", unknown_names ? kLongestName : widest(config.algorithms)),
                 [](const Record& r) { return r.result.algorithm; }});
  if (std::any_of(config.backends.begin(), config.backends.end(), has_knobs))
    for (const GpuKnob& knob : differing_knobs(config.tunings))
      all.push_back({{.name = std::string(knob.name)}, [knob](const Record& r) {
                       return has_knobs(r.backend) ? value_text(knob, r.c.tuning) : "";
                     }});
  all.push_back({{.name = "time", .width = 8}, [](const Record& r) {
                   return timed(r) ? readable(Seconds(measured(r).time.p50)) : "";
                 }});
  all.push_back({{.name = "+-", .unit = "%", .width = 4}, uncertainty});
  all.push_back({{.name = "algbw", .unit = "GB/s", .width = 6},
                 [](const Record& r) { return in_gb(algbw(r)); }});
  all.push_back({{.name = "busbw", .unit = "GB/s", .width = 6},
                 [](const Record& r) { return in_gb(busbw(r)); }});
  all.push_back({{.name = "busiest rank", .unit = "B moved", .width = 13},
                 [](const Record& r) { return grouped_bytes(r.result.wire_busiest); }});
  all.push_back({{.name = "formula", .unit = "B", .width = 13},
                 [](const Record& r) { return grouped_bytes(r.wire_formula); }});
  all.push_back({word("result", 0), verdict});
  return all;
}

SweepTable::SweepTable(const SweepConfig& config)
    : fields_(fields(config)), table_([this] {
        std::vector<Column> columns;
        for (const Field& field : fields_) columns.push_back(field.column);
        return columns;
      }()) {}

std::string SweepTable::header() const { return table_.header(); }

std::string SweepTable::row(const Record& record) const {
  std::vector<std::string> cells;
  for (const Field& field : fields_) cells.push_back(field.cell(record));
  return table_.row(cells);
}

}  // namespace collmark
