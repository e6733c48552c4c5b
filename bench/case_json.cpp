#include "bench/case_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using Json = nlohmann::json;

constexpr std::array kStatuses{Status::ok, Status::skipped, Status::failed};
constexpr std::array kStopReasons{StopReason::interval, StopReason::time, StopReason::count};

template <class Enum, std::size_t N>
Enum named(const Json& json, const std::array<Enum, N>& values) {
  const auto& text = json.get_ref<const std::string&>();
  const auto found =
      std::find_if(values.begin(), values.end(), [&](Enum value) { return name(value) == text; });
  if (found == values.end())
    throw Error(ErrorKind::broken, fmt::format("'{}' names nothing in a message", text));
  return *found;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::optional<Bytes>& value) {
  return value ? Json(value->value) : Json(nullptr);
}

template <class T>
std::optional<T> maybe(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}
std::optional<Bytes> maybe_bytes(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(Bytes{json.get<std::int64_t>()});
}

/// JSON has no infinity and no NaN; a wrong result may be either.
Json any_number(double value) { return fmt::format("{}", value); }
double any_number(const Json& json) { return std::stod(json.get_ref<const std::string&>()); }

Json to_json(const MeasureOptions& m) {
  return {{"mode", name(m.mode)},
          {"cache", name(m.cache)},
          {"warmups", or_null(m.warmups)},
          {"most_iterations", m.most_iterations},
          {"time_budget", m.time_budget.count()},
          {"narrow_enough", m.narrow_enough},
          {"timer_call", m.timer_call.count()}};
}

MeasureOptions options_from_json(const Json& json) {
  return {.mode = named(json.at("mode"), kModes),
          .cache = named(json.at("cache"), kCacheStates),
          .warmups = maybe<int>(json.at("warmups")),
          .most_iterations = json.at("most_iterations").get<int>(),
          .time_budget = Seconds{json.at("time_budget").get<double>()},
          .narrow_enough = json.at("narrow_enough").get<double>(),
          .timer_call = Seconds{json.at("timer_call").get<double>()}};
}

Json to_json(const Summary& s) {
  Json json{{"n", s.n},     {"min", s.min}, {"p50", s.p50},         {"mean", s.mean},
            {"p95", s.p95}, {"max", s.max}, {"p99", or_null(s.p99)}};
  json["interval"] = s.interval ? Json{s.interval->low, s.interval->high} : Json(nullptr);
  return json;
}

Summary summary_from_json(const Json& json) {
  Summary s{.n = json.at("n").get<std::size_t>(),
            .min = json.at("min").get<double>(),
            .p50 = json.at("p50").get<double>(),
            .mean = json.at("mean").get<double>(),
            .p95 = json.at("p95").get<double>(),
            .max = json.at("max").get<double>(),
            .p99 = maybe<double>(json.at("p99")),
            .interval = std::nullopt};
  if (const Json& interval = json.at("interval"); !interval.is_null())
    s.interval = {interval.at(0).get<double>(), interval.at(1).get<double>()};
  return s;
}

Json to_json(const Check& check) {
  const WrongElement& e = check.first;
  return {{"wrong", check.wrong},
          {"rank", e.rank},
          {"index", e.index},
          {"got", any_number(e.got)},
          {"expected", any_number(e.expected)}};
}

Check check_from_json(const Json& json) {
  return {.wrong = json.at("wrong").get<std::int64_t>(),
          .first = {.rank = json.at("rank").get<int>(),
                    .index = json.at("index").get<std::int64_t>(),
                    .got = any_number(json.at("got")),
                    .expected = any_number(json.at("expected"))}};
}

/// Two numbers a sample: nanoseconds, then 1 if disturbed plus 2 if late.
Json to_json(const std::vector<Sample>& samples) {
  Json flat = Json::array();
  for (const Sample& s : samples) {
    flat.push_back(s.time.count());
    flat.push_back((s.disturbed ? 1 : 0) + (s.late ? 2 : 0));
  }
  return flat;
}

std::vector<Sample> samples_from_json(const Json& flat) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) {
    const int flags = flat.at(i + 1).get<int>();
    samples.push_back(
        {Nanoseconds(flat.at(i).get<Nanoseconds::rep>()), (flags & 1) != 0, (flags & 2) != 0});
  }
  return samples;
}

Json to_json(const Measurement& m) {
  return {
      {"warmups", m.warmups},      {"batch", m.batch},         {"stop_reason", name(m.stop_reason)},
      {"time", to_json(m.time)},   {"disturbed", m.disturbed}, {"late_starts", m.late_starts},
      {"check", to_json(m.check)}, {"ranks", m.ranks},         {"samples", to_json(m.samples)}};
}

Measurement measurement_from_json(const Json& json) {
  return {.warmups = json.at("warmups").get<int>(),
          .batch = json.at("batch").get<int>(),
          .stop_reason = named(json.at("stop_reason"), kStopReasons),
          .time = summary_from_json(json.at("time")),
          .disturbed = json.at("disturbed").get<int>(),
          .late_starts = json.at("late_starts").get<int>(),
          .check = check_from_json(json.at("check")),
          .ranks = json.at("ranks").get<int>(),
          .samples = samples_from_json(json.at("samples"))};
}

Json to_json(const GpuCondition& g) {
  return {or_null(g.sm_mhz), or_null(g.memory_mhz), or_null(g.watts), or_null(g.celsius),
          or_null(g.held_back)};
}

GpuCondition condition_from_json(const Json& json) {
  return {.sm_mhz = maybe<int>(json.at(0)),
          .memory_mhz = maybe<int>(json.at(1)),
          .watts = maybe<double>(json.at(2)),
          .celsius = maybe<int>(json.at(3)),
          .held_back = maybe<unsigned long long>(json.at(4))};
}

std::optional<LinkCost> link_from_json(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return LinkCost{.alpha = Seconds{json.at(0).get<double>()},
                  .beta = json.at(1).get<double>(),
                  .gamma = json.at(2).get<double>()};
}

Json to_json(const GpuTuning& t) {
  return {{"channels", or_null(t.channels)},
          {"threads", or_null(t.threads)},
          {"slots", or_null(t.slots)},
          {"slot", or_null(t.slot)},
          {"misaligned", or_null(t.misaligned)}};
}

GpuTuning tuning_from_json(const Json& json) {
  return {.channels = maybe<int>(json.at("channels")),
          .threads = maybe<int>(json.at("threads")),
          .slots = maybe<int>(json.at("slots")),
          .slot = maybe_bytes(json.at("slot")),
          .misaligned = maybe<int>(json.at("misaligned"))};
}

}  // namespace

Json to_json(const Case& c) {
  return {{"collective", name(c.collective)},
          {"algorithm", c.algorithm},
          {"ranks", c.ranks},
          {"count", c.count.value},
          {"dtype", name(c.dtype)},
          {"op", name(c.op)},
          {"root", c.root},
          {"placement", name(c.placement)},
          {"measure", to_json(c.measure)},
          {"tuning", to_json(c.tuning)}};
}

Case case_from_json(const Json& json) {
  return {.collective = named(json.at("collective"), kCollectives),
          .algorithm = json.at("algorithm").get<std::string>(),
          .ranks = json.at("ranks").get<int>(),
          .count = {json.at("count").get<std::int64_t>()},
          .dtype = named(json.at("dtype"), kDtypes),
          .op = named(json.at("op"), kReduceOps),
          .root = json.at("root").get<int>(),
          .placement = named(json.at("placement"), kPlacements),
          .measure = options_from_json(json.at("measure")),
          .tuning = tuning_from_json(json.at("tuning"))};
}

Json to_json(const CaseResult& r) {
  Json link(nullptr);
  if (r.link) link = {r.link->alpha.count(), r.link->beta, r.link->gamma};
  return {{"status", name(r.status)},
          {"reason", r.reason},
          {"implementation", r.implementation},
          {"algorithm", r.algorithm},
          {"nodes", r.nodes},
          {"measurement", to_json(r.measurement)},
          {"chunk", or_null(r.chunk)},
          {"wire_busiest", or_null(r.wire_busiest)},
          {"messages_busiest", or_null(r.messages_busiest)},
          {"rounds", or_null(r.rounds)},
          {"flag_ns", or_null(r.flag_ns)},
          {"flag_after_ns", or_null(r.flag_after_ns)},
          {"pages", r.pages},
          {"oversubscribed", r.oversubscribed},
          {"link", std::move(link)},
          {"device", r.device},
          {"devices", or_null(r.devices)},
          {"tuning", r.tuning},
          {"gpu_before", to_json(r.gpu_before)},
          {"gpu_after", to_json(r.gpu_after)}};
}

CaseResult result_from_json(const Json& json) {
  return {.status = named(json.at("status"), kStatuses),
          .reason = json.at("reason").get<std::string>(),
          .implementation = json.at("implementation").get<std::string>(),
          .algorithm = json.at("algorithm").get<std::string>(),
          .nodes = json.at("nodes").get<int>(),
          .measurement = measurement_from_json(json.at("measurement")),
          .chunk = maybe_bytes(json.at("chunk")),
          .wire_busiest = maybe_bytes(json.at("wire_busiest")),
          .messages_busiest = maybe<int>(json.at("messages_busiest")),
          .rounds = maybe<int>(json.at("rounds")),
          .flag_ns = maybe<double>(json.at("flag_ns")),
          .flag_after_ns = maybe<double>(json.at("flag_after_ns")),
          .pages = json.at("pages").get<std::string>(),
          .oversubscribed = json.at("oversubscribed").get<bool>(),
          .link = link_from_json(json.at("link")),
          .device = json.at("device").get<std::string>(),
          .devices = maybe<int>(json.at("devices")),
          .tuning = json.at("tuning").get<std::string>(),
          .gpu_before = condition_from_json(json.at("gpu_before")),
          .gpu_after = condition_from_json(json.at("gpu_after"))};
}

}  // namespace collmark
