#include "bench/library_list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/library_name.hpp"
#include "bench/mpi_support.hpp"
#include "bench/nccl_name.hpp"
#include "bench/table.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

struct Listed {
  Collective collective;
  LibraryAlgorithm algorithm;
};

struct LibraryList {
  std::string library;
  std::vector<Listed> all;
};

LibraryList of_mpi(const std::vector<Collective>& shown) {
  if (mpi_library().empty()) throw Error(ErrorKind::absent, "mpi: not built into this version");
  LibraryList list{mpi_library(), {}};
  for (const Collective collective : shown)
    for (const LibraryAlgorithm& a : library_algorithms(collective))
      list.all.push_back({collective, a});
  if (list.all.empty())
    throw Error(ErrorKind::absent,
                fmt::format("mpi: no algorithm of {} can be forced by name", mpi_library()));
  return list;
}

/// Needs no GPU.
LibraryList of_nccl(const std::vector<Collective>& shown) {
  LibraryList list{Nccl().name(), {}};
  for (const Collective collective : shown)
    for (const std::string& name : nccl_algorithms(collective))
      list.all.push_back(
          {collective,
           {.name = name, .theirs = parse_nccl_name("library:" + name).choice.algorithm}});
  return list;
}

LibraryList listed(const std::string& backend, const std::vector<Collective>& shown) {
  return backend == "nccl" ? of_nccl(shown) : of_mpi(shown);
}

}  // namespace

std::string library_list(const std::string& backend, const std::vector<Collective>& shown) {
  const LibraryList list = listed(backend, shown);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [collective, a] : list.all)
    rows.push_back({std::string(name(collective)), "library:" + a.name,
                    a.segments ? ":SEGMENT" : "", a.theirs});
  return fmt::format("{}\n", list.library) +
         fitted({{.name = "collective", .align = Align::left},
                 {.name = "algorithm", .align = Align::left},
                 {.name = "parameter", .align = Align::left},
                 {.name = "its own name", .align = Align::left}},
                rows);
}

nlohmann::ordered_json library_list_json(const std::string& backend,
                                         const std::vector<Collective>& shown) {
  const LibraryList list = listed(backend, shown);
  auto all = nlohmann::ordered_json::array();
  for (const auto& [collective, a] : list.all)
    all.push_back({{"collective", name(collective)},
                   {"name", "library:" + a.name},
                   {"its_own_name", a.theirs},
                   {"its_own_number", a.number},
                   {"takes_segment", a.segments}});
  return {{"library", list.library}, {"algorithms", all}};
}

}  // namespace collmark
