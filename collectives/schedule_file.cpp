#include "collectives/schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "collmark-schedule";
constexpr int kVersion = 1;
constexpr std::array<std::string_view, 3> kVerbs{"copy", "reduce", "signal"};

std::string_view name(Verb verb) { return kVerbs[static_cast<std::size_t>(verb)]; }

/// Where in the file a value stands: "ring.json", "ring.json: step 3, transfer 0".
using SourcePlace = std::string;

[[noreturn]] void refuse(const SourcePlace& place, std::string_view what) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", place, what));
}

SourcePlace transfer_place(const std::string& path, std::size_t step, std::size_t transfer) {
  return fmt::format("{}: step {}, transfer {}", path, step, transfer);
}

/// One JSON object, read strictly.
class Object {
 public:
  Object(const Json& json, SourcePlace place) : json_(json), place_(std::move(place)) {
    if (!json.is_object())
      refuse(place_, fmt::format("expected an object {{...}}, not {}", json.type_name()));
  }

  void only(std::initializer_list<std::string> known) const {
    const std::vector<std::string> names(known);
    for (const auto& [key, value] : json_.items())
      if (std::find(names.begin(), names.end(), key) == names.end())
        refuse(place_, fmt::format("unknown key '{}'{}; there are: {}", key,
                                   did_you_mean(key, names), fmt::join(names, ", ")));
  }

  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }

  /// The whole number in [least, most] under `key`, or `otherwise` if the key is missing.
  [[nodiscard]] int number(const char* key, std::pair<int, int> bounds,
                           std::optional<int> otherwise = std::nullopt) const {
    if (!has(key) && otherwise) return *otherwise;
    const Json& value = at(key);
    const auto [least, most] = bounds;
    const bool fits = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most) &&
                      static_cast<std::int64_t>(value.get<std::uint64_t>()) >= least;
    if (fits) return value.get<int>();
    refuse(place_, fmt::format("'{}' must be a whole number from {} to {}, not {}", key, least,
                               most, shown(value)));
  }

  [[nodiscard]] std::string word(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string())
      refuse(place_, fmt::format("'{}' must be a text, not {}", key, shown(value)));
    return value.get<std::string>();
  }

  [[nodiscard]] const Json& array(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array())
      refuse(place_, fmt::format("'{}' must be an array [...], not {}", key, shown(value)));
    return value;
  }

  [[nodiscard]] const SourcePlace& place() const { return place_; }

 private:
  [[nodiscard]] const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(place_, fmt::format("key '{}' is missing", key));
    return *found;
  }

  static std::string shown(const Json& value) {
    return value.is_structured() ? value.type_name() : value.dump(-1, ' ', true).substr(0, 40);
  }

  const Json& json_;
  SourcePlace place_;
};

/// Line and column, from 1, of a byte.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t last = before.rfind('\n');
  const std::size_t column =
      last == std::string_view::npos ? before.size() + 1 : before.size() - last;
  return fmt::format("{}:{}", line, column);
}

/// JSON leaves open what a key that is twice there means, and the parser takes the last; here it is refused.
class NoKeyTwice {
 public:
  explicit NoKeyTwice(const std::string& path) : path_(path) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) {
      keys_.emplace_back();
      if (depth == kTransferDepth) ++transfers_;
    }
    if (event == Event::array_start && depth == kStepDepth) ++steps_, transfers_ = 0;
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second)
      refuse(keys_.size() > 1 ? transfer_place(path_, steps_ - 1, transfers_ - 1) : path_,
             fmt::format("key '{}' is there twice", parsed.get<std::string>()));
    return true;
  }

 private:
  static constexpr int kStepDepth = 2, kTransferDepth = 3;

  const std::string& path_;
  std::vector<std::set<std::string>> keys_ = {};
  std::size_t steps_ = 0, transfers_ = 0;
};

Json parse_json(const std::string& text, const std::string& path) {
  NoKeyTwice no_key_twice(path);
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& parsed) {
      return no_key_twice(depth, event, parsed);
    });
  } catch (const Json::parse_error& e) {
    if (e.byte > text.size()) refuse(path, "the file ends in the middle of a JSON document");
    refuse(fmt::format("{}:{}", path, line_and_column(text, e.byte == 0 ? 0 : e.byte - 1)),
           "not valid JSON here");
  } catch (const Json::out_of_range&) {
    refuse(path, "a number is too large");
  }
}

Verb verb_of(const Object& transfer) {
  const std::string text = transfer.word("verb");
  for (std::size_t i = 0; i < kVerbs.size(); ++i)
    if (kVerbs[i] == text) return static_cast<Verb>(i);
  refuse(transfer.place(),
         fmt::format("unknown verb '{}'; there are: {}", text, fmt::join(kVerbs, ", ")));
}

Transfer transfer_of(const Object& o, const Schedule& s) {
  o.only({"src", "dst", "src_chunk", "dst_chunk", "verb", "count"});
  Transfer x{.src = o.number("src", {0, s.ranks - 1}), .dst = o.number("dst", {0, s.ranks - 1})};
  x.verb = verb_of(o);
  const bool moves_nothing = x.verb == Verb::signal;
  const std::optional<int> no_chunk = moves_nothing ? std::optional(0) : std::nullopt;
  x.src_chunk = o.number("src_chunk", {0, s.chunks - 1}, no_chunk);
  x.dst_chunk = o.number("dst_chunk", {0, s.chunks - 1}, x.src_chunk);
  const int room =
      s.chunks - std::max(x.src_chunk, x.dst_chunk);  // a transfer does not wrap around
  x.count = moves_nothing ? o.number("count", {0, 0}, 0) : o.number("count", {1, room}, 1);
  return x;
}

Collective collective_of(const Object& file) {
  const std::string text = file.word("collective");
  if (const auto known = parse_collective(text)) return *known;
  std::vector<std::string> names;
  names.reserve(kCollectives.size());
  for (const Collective c : kCollectives) names.emplace_back(collmark::name(c));
  refuse(file.place(), fmt::format("unknown collective '{}'{}; there are: {}", text,
                                   did_you_mean(text, names), fmt::join(names, ", ")));
}

/// Everything but the steps.
Schedule frame_of(const Object& file) {
  file.only({"format", "version", "collective", "ranks", "chunks", "root", "servers", "steps"});
  if (file.word("format") != kFormat)
    refuse(file.place(),
           fmt::format("'format' must be \"{}\", not \"{}\"", kFormat, file.word("format")));
  (void)file.number("version", {kVersion, kVersion});
  Schedule s{.collective = collective_of(file)};
  s.ranks = file.number("ranks", {1, kMostFileRanks});
  s.chunks = file.number("chunks", {1, static_cast<int>(kMostFileState / s.ranks)});
  s.root = file.number("root", {0, s.ranks - 1}, 0);
  s.servers = file.number("servers", {0, s.ranks - 1}, 0);
  if (s.collective == Collective::all_to_all && s.chunks != 2 * s.ranks)
    refuse(file.place(),
           fmt::format(
               "all_to_all needs 2 x ranks = {} chunks (input blocks, then output blocks), not {}",
               2 * s.ranks, s.chunks));
  return s;
}

std::string contents(const std::string& path) {
  const auto cannot_read = [&] {
    refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) cannot_read();
  std::string text;
  std::array<char, 65536> block;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), got);
    if (static_cast<std::int64_t>(text.size()) > kMostFileBytes)
      refuse(path,
             fmt::format("larger than the {} MiB that a schedule may have", kMostFileBytes >> 20));
  }
  if (std::ferror(file.get()) != 0) cannot_read();
  return text;
}

}  // namespace

std::string to_json(const Schedule& s) {
  std::string text = fmt::format(
      "{{\"format\": \"{}\", \"version\": {}, \"collective\": \"{}\",\n"
      " \"ranks\": {}, \"chunks\": {}, \"root\": {}, \"servers\": {},\n \"steps\": [",
      kFormat, kVersion, name(s.collective), s.ranks, s.chunks, s.root, s.servers);
  for (int t = 0; t < s.steps; ++t) {
    text += t == 0 ? "\n  [" : ",\n  [";
    bool first = true;
    s.step(t, [&](const Transfer& x) {
      text += std::exchange(first, false) ? "" : ",\n   ";
      text += fmt::format(
          "{{\"src\": {}, \"dst\": {}, \"src_chunk\": {}, \"dst_chunk\": {}, \"verb\": \"{}\", "
          "\"count\": {}}}",
          x.src, x.dst, x.src_chunk, x.dst_chunk, name(x.verb), x.count);
    });
    text += "]";
  }
  return text + "]}\n";
}

Schedule parse_schedule(const std::string& text, const std::string& path) {
  const Json json = parse_json(text, path);
  const Object file(json, path);
  Schedule s = frame_of(file);
  std::vector<std::vector<Transfer>> steps;
  for (const Json& step : file.array("steps")) {
    const std::size_t t = steps.size();
    if (!step.is_array())
      refuse(fmt::format("{}: step {}", path, t),
             fmt::format("expected an array [...], not {}", step.type_name()));
    steps.emplace_back();
    for (const Json& transfer : step)
      steps[t].push_back(
          transfer_of(Object(transfer, transfer_place(path, t, steps[t].size())), s));
  }
  s.steps = static_cast<int>(steps.size());
  s.step = [all = std::make_shared<const std::vector<std::vector<Transfer>>>(std::move(steps))](
               int t, Emit emit) {
    for (const Transfer& x : (*all)[static_cast<std::size_t>(t)]) emit(x);
  };
  return s;
}

Schedule read_schedule(const std::string& path) { return parse_schedule(contents(path), path); }

Schedule schedule_for(const std::string& path, Collective collective, int ranks) {
  Schedule s = read_schedule(path);
  if (s.collective != collective)
    refuse(path,
           fmt::format("is a schedule of {}, not of {}", name(s.collective), name(collective)));
  if (s.ranks != ranks)
    throw Unsupported(fmt::format("{}: is for {} ranks, not for {}", path, s.ranks, ranks));
  return s;
}

}  // namespace collmark
