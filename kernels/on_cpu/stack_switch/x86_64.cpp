#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/on_cpu/stack_switch.hpp"

// System V ABI for x86-64, section 3.2.1: a function must keep these registers; its caller expects no others.
//   rdi    where to note the stack pointer that is left
//   rsi    the one to go on with
asm(R"(
.text
.type collmark_switch_stack, @function
collmark_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size collmark_switch_stack, . - collmark_switch_stack
)");

extern "C" void collmark_switch_stack(void** left, void* next);

namespace collmark::grid {

StackSwitch::StackSwitch() = default;

StackSwitch::StackSwitch(char* stack, std::size_t size, void (*body)()) {
  // What collmark_switch_stack() takes off: six registers, then where to return. A function begins 8 bytes off a
  // multiple of 16, as after a call.
  std::array<std::uint64_t, 8> first{};
  first[6] = reinterpret_cast<std::uint64_t>(body);
  char* const top = stack + size / 16 * 16;
  left_ = top - sizeof first;
  std::memcpy(left_, first.data(), sizeof first);
}

StackSwitch::~StackSwitch() { left_ = nullptr; }  // nobody goes on there

void StackSwitch::to(StackSwitch& other) { collmark_switch_stack(&left_, other.left_); }

}  // namespace collmark::grid
