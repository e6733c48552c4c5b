/// Which MPI library this program runs with.
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <regex>
#include <string>

#include "bench/mpi_support.hpp"

namespace collmark {

/// Libraries introduce themselves at length: "Open MPI v4.1.4, package: Debian ...", "MPICH Version: 4.0.2 ...".
/// The one call of MPI that needs no MPI_Init.
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  std::smatch found;
  static const std::regex pattern(
      R"(^([A-Za-z][A-Za-z() ]*?)\s*(?:Library)?\s*(?:[Vv]ersion:?)?\s*v?(\d[\w.]*))");
  if (!std::regex_search(whole, found, pattern)) return whole.substr(0, whole.find_first_of(",\n"));
  return fmt::format("{} {}", found[1].str(), found[2].str());
}

}  // namespace collmark
