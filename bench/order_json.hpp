/// Orders to the ranks of a job, and their answers, as JSON for those that live in other processes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/mpi_launch.hpp"

namespace collmark {

/// {"case": ...} or {"links": ...}
[[nodiscard]] nlohmann::json to_json(const MpiOrder& order);
/// What comes of an order: the same for both kinds, a document of its own.
[[nodiscard]] nlohmann::json to_json(const MpiAnswer& answer);

/// Both throw nlohmann::json::exception or Error{broken} for a document that to_json has not made.
[[nodiscard]] MpiOrder order_from_json(const nlohmann::json& json);
[[nodiscard]] MpiAnswer answer_from_json(const nlohmann::json& json);

}  // namespace collmark
