/// `ring/window`, `ring_interpreted`, `one_shot/LL/graph`: an algorithm, how a backend that knows several ways is to move its
/// data, and how it is launched.
#pragma once

#include <string>
#include <string_view>

namespace collmark {

enum class Variant {
  plain,   // the backend's own way: memory that threads share, messages between processes
  window,  // mpi: buffers in a shared-memory window of one host, and the plan that threads run
  links,   // cuda: slots between two ranks, where the backend's own way reaches into peers' memory
  low_latency,  // cuda: data that carries its flags, which the backend's own way takes for small sizes
  simple,       // cuda: never that
  interpreted,  // cuda: the kernel that runs any schedule, where there is a hand-written one
};
[[nodiscard]] std::string_view name(
    Variant variant);  // "window", "links", "LL", "simple", "interpreted"; empty for plain

/// cuda: a launch for each operation, or one captured in a graph that is replayed.
enum class Launching { each, graph };

struct AlgorithmVariant {
  std::string algorithm;  // as build() takes it; a library's name whole
  Variant variant = Variant::plain;
  Launching launching = Launching::each;
};

/// Throws Error{usage} with a did-you-mean for a variant that nobody knows. A library's name may hold a slash
/// of its own, and so may a path.
[[nodiscard]] AlgorithmVariant split_variant(std::string_view text);

/// How it is called in rows: the opposite of split_variant.
[[nodiscard]] std::string joined(std::string_view algorithm, Variant variant,
                                 Launching launching = Launching::each);

}  // namespace collmark
