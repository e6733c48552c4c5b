#include "bench/version.hpp"

#include <fmt/format.h>
#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/build_info.hpp"
#include "bench/mpi_support.hpp"

namespace collmark {

std::string version_text() {
  constexpr std::string_view sanitizers = build_info::kSanitizers;
  return fmt::format(
      "collmark {} (commit {}, {}, sanitizers {}; compiler {}; fmt {}.{}.{}, CLI11 {}, "
      "nlohmann-json {}.{}.{}, MPI {})",
      build_info::kVersion, build_info::kCommit, build_info::kBuildType,
      sanitizers.empty() ? "none" : sanitizers, build_info::kCompiler, FMT_VERSION / 10000,
      FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH,
      mpi_library().empty() ? "none" : mpi_library());
}

}  // namespace collmark
