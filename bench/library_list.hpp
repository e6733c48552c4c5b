/// The algorithms of the MPI library, for `collmark algorithms --backend mpi`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "collectives/schedule.hpp"

namespace collmark {

/// Both throw Error{absent} where there is no MPI library, or none whose algorithms can be forced.
[[nodiscard]] std::string library_list(const std::vector<Collective>& shown);
[[nodiscard]] nlohmann::ordered_json library_list_json(const std::vector<Collective>& shown);

}  // namespace collmark
