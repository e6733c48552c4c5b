/// Cases and their results as JSON, for ranks that live in other processes. Numbers come back bit for bit.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/backend.hpp"

namespace collmark {

[[nodiscard]] nlohmann::json to_json(const Case& c);
[[nodiscard]] nlohmann::json to_json(const CaseResult& result);

/// Both throw nlohmann::json::exception or Error{broken} for a document that to_json has not made.
[[nodiscard]] Case case_from_json(const nlohmann::json& json);
[[nodiscard]] CaseResult result_from_json(const nlohmann::json& json);

}  // namespace collmark
