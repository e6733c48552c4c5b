/// collmark_micro: how fast the single-process pieces are. Flags are Google Benchmark's, for instance
/// --benchmark_filter='reduce/f32/sum/k2m2/.*avx512'.
#include <benchmark/benchmark.h>

#include "bench/micro/register.hpp"

int main(int argc, char** argv) {
  collmark::micro::register_reduce();
  collmark::micro::register_packing();
  collmark::micro::register_gpu_packing();
  collmark::micro::register_nccl_call();
  collmark::micro::register_schedule();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  benchmark::
      ClearRegisteredBenchmarks();  // and with them what they hold of a GPU, before main() ends
  return ran > 0 ? 0 : 6;           // a filter that matches nothing measured nothing
}
