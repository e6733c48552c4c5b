#include "bench/link_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/record.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

constexpr int kDigits = 6;  // significant, in files

/// What was measured of one pair, in the units of the columns; empty where nothing was.
struct Cells {
  std::optional<double> flag, copy, shared, low_latency, engine, launch, word;

  explicit Cells(const PairLink& l)
      : shared(l.shared_gb_per_s),
        low_latency(in_ns(l.low_latency)),
        engine(l.engine_gb_per_s),
        launch(in_ns(l.launch)),
        word(in_ns(l.word)) {
    if (!l.reason.empty()) return;
    flag = in_ns(l.flag);
    copy = l.copy_gb_per_s;
  }
};

std::string in_file(const std::optional<double>& value) {
  return value ? rounded(*value, kDigits) : "";
}
std::string in_table(const std::optional<double>& value) { return value ? rounded(*value) : ""; }
nlohmann::json in_document(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

bool is_of_gpus(const LinkTable& links) {
  return std::any_of(links.pairs.begin(), links.pairs.end(), [](const PairLink& l) {
    return l.low_latency.has_value() || !l.reason.empty();
  });
}

}  // namespace

std::string link_csv_rows(const std::vector<LinkTable>& all) {
  std::string rows;
  for (const LinkTable& links : all)
    for (const PairLink& l : links.pairs) {
      const Cells c(l);
      rows +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", links.backend, l.first,
                      l.second, in_file(c.flag), links.copied.value, in_file(c.copy),
                      in_file(c.shared), l.first_host, l.second_host, in_file(c.low_latency),
                      in_file(c.engine), in_file(c.launch), csv_cell(l.reason), in_file(c.word));
    }
  return rows;
}

nlohmann::json link_document(const std::vector<LinkTable>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const LinkTable& links : all)
    for (const PairLink& l : links.pairs) {
      const Cells c(l);
      nlohmann::json pair{{"backend", links.backend},
                          {"first", l.first},
                          {"second", l.second},
                          {"first_host", l.first_host},
                          {"second_host", l.second_host},
                          {"flag_ns", in_document(c.flag)},
                          {"copy_bytes", links.copied.value},
                          {"copy_gb_per_s", in_document(c.copy)},
                          {"shared_gb_per_s", in_document(c.shared)}};
      if (is_of_gpus(links))
        pair.update({{"low_latency_ns", in_document(c.low_latency)},
                     {"engine_gb_per_s", in_document(c.engine)},
                     {"launch_ns", in_document(c.launch)},
                     {"reason", l.reason},
                     {"word_ns", in_document(c.word)}});
      list.push_back(std::move(pair));
    }
  return {{"links", list}};
}

std::string link_table(const LinkTable& links) {
  const auto end = [](int number, const std::string& host) {
    return host.empty() ? std::to_string(number) : fmt::format("{}, {}", number, host);
  };
  std::vector<Column> columns{{.name = links.kind},
                              {.name = links.kind},
                              {.name = "flag, one way", .unit = "ns"},
                              {.name = "copy alone", .unit = "GB/s"},
                              {.name = "copy, all pairs at once", .unit = "GB/s"}};
  const bool of_gpus = is_of_gpus(links);
  if (of_gpus)
    columns.insert(columns.end(), {{.name = "low latency, one way", .unit = "ns"},
                                   {.name = "copy by the driver", .unit = "GB/s"},
                                   {.name = "empty kernel", .unit = "ns"},
                                   {.name = "by one word, one way", .unit = "ns"},
                                   {.name = "result", .align = Align::left}});
  std::vector<std::vector<std::string>> rows;
  for (const PairLink& l : without_common_host(links.pairs)) {
    const Cells c(l);
    rows.push_back({end(l.first, l.first_host), end(l.second, l.second_host), in_table(c.flag),
                    in_table(c.copy), in_table(c.shared)});
    if (of_gpus)
      rows.back().insert(
          rows.back().end(),
          {in_table(c.low_latency), in_table(c.engine), in_table(c.launch), in_table(c.word),
           !l.reason.empty()     ? l.reason
           : l.first == l.second ? "no link: two blocks of one GPU, its own memory"
                                 : "verified"});
  }
  return fitted(columns, rows) + "\n" + slowest_links(links.pairs, links.kind);
}

}  // namespace collmark
