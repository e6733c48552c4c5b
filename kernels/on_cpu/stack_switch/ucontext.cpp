#include <ucontext.h>

#include "kernels/on_cpu/stack_switch.hpp"

namespace collmark::grid {
namespace {

ucontext_t* context(void* left) { return static_cast<ucontext_t*>(left); }

}  // namespace

StackSwitch::StackSwitch() : left_(new ucontext_t{}) {}

StackSwitch::StackSwitch(char* stack, std::size_t size, void (*body)()) : StackSwitch() {
  getcontext(context(left_));
  context(left_)->uc_stack.ss_sp = stack;
  context(left_)->uc_stack.ss_size = size;
  context(left_)->uc_link = nullptr;
  makecontext(context(left_), body, 0);
}

StackSwitch::~StackSwitch() { delete context(left_); }

void StackSwitch::to(StackSwitch& other) { swapcontext(context(left_), context(other.left_)); }

}  // namespace collmark::grid
