/// The algorithms of a library, for `collmark algorithms --backend mpi` or nccl.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "collectives/schedule.hpp"

namespace collmark {

/// Both throw Error{absent} where there is no such library, or none whose algorithms can be forced. `backend`: mpi, nccl.
[[nodiscard]] std::string library_list(const std::string& backend,
                                       const std::vector<Collective>& shown);
[[nodiscard]] nlohmann::ordered_json library_list_json(const std::string& backend,
                                                       const std::vector<Collective>& shown);

}  // namespace collmark
