/// What an algorithm is called where it runs as a kernel.
///
///   name                      kernel
///   ring                      the hand-written one, if there is one, else the interpreter
///   ring_interpreted          the interpreter
///   parameter_server/links    over links, where the standard is to read and store peers' memory directly
///   two_shot/LL               the low-latency protocol, for small sizes
///   parameter_server/LL       the same over links
#pragma once

#include <string>
#include <string_view>

namespace collmark {

/// How data gets from rank to rank, if the name says so.
enum class Way { standard, interpreted, links, low_latency };

struct KernelName {
  std::string algorithm;  // as the catalogue knows it, with parameter
  Way way = Way::standard;
};
/// Throws Error{usage} for a protocol that there is none of.
[[nodiscard]] KernelName parse_kernel_name(std::string_view text);
[[nodiscard]] std::string to_string(const KernelName& name);

}  // namespace collmark
