#include "bench/library_list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/mpi_support.hpp"
#include "bench/table.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

struct Listed {
  Collective collective;
  LibraryAlgorithm algorithm;
};

std::vector<Listed> listed(const std::vector<Collective>& shown) {
  if (mpi_library().empty()) throw Error(ErrorKind::absent, "mpi: not built into this version");
  std::vector<Listed> all;
  for (const Collective collective : shown)
    for (const LibraryAlgorithm& a : library_algorithms(collective)) all.push_back({collective, a});
  if (all.empty())
    throw Error(ErrorKind::absent,
                fmt::format("mpi: no algorithm of {} can be forced by name", mpi_library()));
  return all;
}

}  // namespace

std::string library_list(const std::vector<Collective>& shown) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [collective, a] : listed(shown))
    rows.push_back({std::string(name(collective)), "library:" + a.name,
                    a.segments ? ":SEGMENT" : "", a.theirs});
  return fmt::format("{}\n", mpi_library()) +
         fitted({{.name = "collective", .align = Align::left},
                 {.name = "algorithm", .align = Align::left},
                 {.name = "parameter", .align = Align::left},
                 {.name = "its own name", .align = Align::left}},
                rows);
}

nlohmann::ordered_json library_list_json(const std::vector<Collective>& shown) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [collective, a] : listed(shown))
    all.push_back({{"collective", name(collective)},
                   {"name", "library:" + a.name},
                   {"its_own_name", a.theirs},
                   {"its_own_number", a.number},
                   {"takes_segment", a.segments}});
  return {{"library", mpi_library()}, {"algorithms", all}};
}

}  // namespace collmark
