/// What a device that does not come to an end may still use: giving it back would wait for that.
#pragma once

#include <memory>
#include <vector>

namespace collmark {

/// Kept until the process ends, and never given back.
template <class Owner>
void leave_behind(std::unique_ptr<Owner> owner) {
  static auto* const left = new std::vector<Owner*>;
  left->push_back(owner.release());
}

}  // namespace collmark
