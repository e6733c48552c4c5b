/// What an algorithm is called where it runs as a kernel.
///
///   name                      kernel
///   ring                      the hand-written one, if there is one, else the interpreter; of the protocols the one
///                             that suits the size (hand_written.hpp)
///   ring_interpreted          the interpreter
///   parameter_server/links    over links, where the standard is to read and store peers' memory directly
///   two_shot/LL               the low-latency protocol, whatever the size
///   two_shot/simple           never that
///   parameter_server/LL       low latency over links
#pragma once

#include <string>
#include <string_view>

namespace collmark {

/// How data gets from rank to rank, if the name says so.
enum class Way { standard, interpreted, links, low_latency, simple };

struct KernelName {
  std::string algorithm;  // as the catalogue knows it, with parameter
  Way way = Way::standard;
};
/// Throws Error{usage} for a protocol that there is none of.
[[nodiscard]] KernelName parse_kernel_name(std::string_view text);
[[nodiscard]] std::string to_string(const KernelName& name);

}  // namespace collmark
