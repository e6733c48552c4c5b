/// What a resource manager (Slurm, PBS, LSF) has given this process to start ranks on.
#pragma once

namespace collmark {

/// Does the environment tell of an allocation that is not this host alone? One whose hosts it does not tell is not.
/// A login node is not part of the allocation that was made there.
[[nodiscard]] bool allocation_reaches_elsewhere();

}  // namespace collmark
