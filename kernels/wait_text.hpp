/// A wait of a block for a flag of a peer, in words.
#pragma once

#include <string>

#include "kernels/flag_wait.hpp"

namespace collmark {

constexpr const char* name(Awaited what) {
  switch (what) {
    case Awaited::data:
      return "data";
    case Awaited::credit:
      return "a credit";
    case Awaited::arrival:
      return "its arrival at the barrier";
    case Awaited::line:
      return "its line";
    case Awaited::progress:
      return "its progress";
    case Awaited::message:
      return "its message";
  }
  return "?";
}

/// `rank 3 in step 2: data, flag 6 expected, 5 found`; `where` comes after what is awaited.
inline std::string wait_text(const FlagWait& w, const std::string& where = "") {
  return "rank " + std::to_string(w.peer) +
         (w.step < 0 ? " after the last step" : " in step " + std::to_string(w.step)) + ": " +
         name(w.what) + where + ", flag " + std::to_string(w.expected) + " expected, " +
         std::to_string(w.found) + " found";
}

}  // namespace collmark
