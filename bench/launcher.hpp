/// Is this process one of several that mpirun or srun started?
#pragma once

#include <optional>
#include <string>

namespace collmark {

/// What a launcher told this process through its environment.
struct Launcher {
  std::string name;  // "Open MPI's mpirun"
  std::string size_variable;
  int ranks = 1;
  int rank = 0;
};

/// Empty outside a launcher. A job of one process is a launcher too: it owns the terminal.
[[nodiscard]] std::optional<Launcher> launcher();

/// For what measures without being part of a job: N copies that each believe to be alone would share the
/// cores and report nonsense. Throws Error{absent} if the launcher started more than one, Error{usage} for
/// variables of a launcher that are not what one sets.
void refuse_launcher();

}  // namespace collmark
