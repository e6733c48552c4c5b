/// How the collectives of an MPI library are called on the command line and in rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/dtype.hpp"
#include "collectives/schedule.hpp"
#include "collectives/units.hpp"

namespace collmark {

/// `library`, `library:ring`, `library:segmented_ring:1M`, taken apart.
struct LibraryName {
  std::string algorithm = {};  // empty: the library chooses
  Bytes segment = {};          // of a message that the algorithm cuts; 0: as the library does it
  std::string parameter = {};  // ":1M", as written
};

/// Is it `library`, alone or with something behind a colon or a slash?
[[nodiscard]] bool is_library(std::string_view algorithm);

/// Of an MPI library.  Throws Error{usage} for an empty name, a variant, or a segment that is no size.
[[nodiscard]] LibraryName parse_library_name(std::string_view text);

/// One that a library can be made to use: `name` is the field's, `theirs` the library's own where that differs.
struct LibraryAlgorithm {
  std::string name;
  std::string theirs;
  int number = 0;         // that the library gives it
  bool segments = false;  // takes a segment; others would ignore it
};

/// The field's name for what libraries spell in several ways: "reduce_scatter_allgather", "rabenseifner".
[[nodiscard]] std::string usual_name(std::string_view theirs);

/// The one that is asked for, by either of its names.
///   Throws   Error{usage} with a did-you-mean and the whole list, or for a segment that would be ignored.
[[nodiscard]] const LibraryAlgorithm& choose_library_algorithm(
    Collective collective, const LibraryName& asked, const std::vector<LibraryAlgorithm>& choices);

}  // namespace collmark
