/// The groups of micro-benchmarks. Each registers its cases by name.
#pragma once

namespace collmark::micro {

void register_reduce();
void register_packing();
void register_gpu_packing();
void register_nccl_call();
void register_schedule();

}  // namespace collmark::micro
