/// Goes from one stack to another: what a fiber is made of.
///
///   stack_switch/x86_64.cpp    the registers that a function must keep, and nothing else
///   stack_switch/ucontext.cpp  everywhere else; makes two system calls for the signal mask
#pragma once

#include <cstddef>

namespace collmark::grid {

class StackSwitch {
 public:
  StackSwitch();  // of whoever runs now: to() leaves it
  /// Of a fiber that begins with `body`, on a stack of its own. `body` never returns.
  StackSwitch(char* stack, std::size_t size, void (*body)());
  ~StackSwitch();
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  /// Leaves this one and goes on where `other` was left. Returns when somebody comes back.
  void to(StackSwitch& other);

 private:
  void* left_ = nullptr;  // where it goes on
};

}  // namespace collmark::grid
