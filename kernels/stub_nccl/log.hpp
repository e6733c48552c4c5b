/// The log of the stub: the one line of NCCL's that collmark reads.
#pragma once

#include <cstddef>
#include <string>

namespace collmark::stub {

/// Reads NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE anew.
void reset_log();
void log_choice(const char* function, std::size_t bytes, const std::string& algorithm,
                const std::string& protocol);

}  // namespace collmark::stub
