#include "bench/step_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace collmark {
namespace {

int widest(const std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& word : words) width = std::max(width, word.size());
  return static_cast<int>(width);
}

Column word(std::string name, const std::vector<std::string>& values) {
  return {.name = std::move(name), .width = widest(values), .align = Align::left};
}

constexpr std::ptrdiff_t kBehindAlgorithm = 4;  // columns

std::vector<Column> columns_of(const StepConfig& config, const std::vector<GpuKnob>& knobs) {
  std::vector<std::string> models, policies;
  for (const auto& model : config.models) models.push_back(model->name);
  for (const BucketPolicy* policy : config.policies) policies.emplace_back(policy->name);
  std::vector<Column> columns{word("model", models),
                              word("policy", policies),
                              {.name = "cap", .width = 8},
                              word("algorithm", config.algorithms),
                              {.name = "ranks"},
                              {.name = "buckets"},
                              {.name = "step", .width = 8},
                              {.name = "pack", .width = 8},
                              {.name = "wire", .width = 8},
                              {.name = "unpack", .width = 8},
                              {.name = "tail", .width = 8},
                              {.name = "busiest rank", .unit = "B moved", .width = 13},
                              {.name = "formula", .unit = "B", .width = 13},
                              {.name = "result", .align = Align::left}};
  std::vector<Column> turned;
  for (const GpuKnob& knob : knobs) turned.push_back({.name = std::string(knob.name)});
  columns.insert(columns.begin() + kBehindAlgorithm, turned.begin(), turned.end());
  return columns;
}

std::string verdict(const CaseResult& result) {
  if (result.status == Status::ok) return "verified";
  return fmt::format("{}: {}", name(result.status), result.reason);
}

std::string grouped_bytes(const std::optional<Bytes>& bytes) {
  return bytes ? grouped(bytes->value) : "";
}

}  // namespace

std::string cap_text(const StepCase& c) {
  const auto cap = cap_in_force(*c.policy, c.config, c.dtype);
  return cap ? readable(*cap) : "none";
}

StepTable::StepTable(const StepConfig& config)
    : knobs_(differing_knobs(tunings_on(config.backend, config.tunings))),
      table_(columns_of(config, knobs_)) {}

std::string StepTable::row(const StepRecord& r) const {
  const bool timed =
      r.result.base.status != Status::skipped && r.result.base.measurement.time.n > 0;
  const auto time = [&](Seconds value) { return timed ? readable(value) : ""; };
  std::vector<std::string> cells{r.c.model->name,
                                 std::string(r.c.policy->name),
                                 cap_text(r.c),
                                 r.c.algorithm,
                                 std::to_string(r.c.ranks()),
                                 std::to_string(r.result.buckets.size()),
                                 time(Seconds(r.result.base.measurement.time.p50)),
                                 time(r.result.phases.pack),
                                 time(r.result.phases.wire),
                                 time(r.result.phases.unpack),
                                 time(r.result.tail),
                                 grouped_bytes(r.result.base.wire_busiest),
                                 grouped_bytes(r.base.wire_formula),
                                 verdict(r.result.base)};
  std::vector<std::string> turned;
  for (const GpuKnob& knob : knobs_) turned.push_back(value_text(knob, r.c.tuning));
  cells.insert(cells.begin() + kBehindAlgorithm, turned.begin(), turned.end());
  return table_.row(cells);
}

std::string plans(std::span<const StepCase> cases) {
  std::set<std::vector<std::string>> seen;
  std::vector<std::vector<std::string>> rows;
  for (const StepCase& c : cases) {
    const auto buckets = plan_buckets(*c.policy, c.model->tensors, c.config);
    Bytes largest{};
    for (const Bucket& bucket : buckets) largest = std::max(largest, bucket.bytes());
    std::vector<std::string> row{c.model->name,
                                 std::string(c.policy->name),
                                 cap_text(c),
                                 std::to_string(c.ranks()),
                                 std::to_string(buckets.size()),
                                 grouped(bytes_of(c.model->tensors).value),
                                 grouped(largest.value),
                                 grouped(buckets.back().bytes().value),
                                 readable(memory_of_step(c, c.ranks()))};
    if (seen.insert(row).second) rows.push_back(std::move(row));
  }
  return fitted({{.name = "model", .align = Align::left},
                 {.name = "policy", .align = Align::left},
                 {.name = "cap"},
                 {.name = "ranks"},
                 {.name = "buckets"},
                 {.name = "planned", .unit = "B"},
                 {.name = "largest", .unit = "B"},
                 {.name = "tail", .unit = "B"},
                 {.name = "memory"}},
                rows);
}

}  // namespace collmark
