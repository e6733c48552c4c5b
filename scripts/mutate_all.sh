#!/usr/bin/env bash
# Every mutant of the builders and the executor; docs/mutation.md keeps what came out.
#   scripts/mutate_all.sh builders|schedule|plan|threads|orders [options of mutate.py]
# Tests are named from the quickest and likeliest to notice to the slowest.
set -euo pipefail
cd "$(dirname "$0")/.."
part=$1 && shift

steps='Ring.*:OneShotAndTwoShot.*:ParameterServer.*:DedicatedServer.*:ShardedServer.*:BinomialTree.*:PipelinedTree*.*'
steps+=':DoubleBinaryTree.*:Chain.*:RecursiveDoubling.*:Rabenseifner.*:Circulant.*:HierarchicalRing.*:Swing.*'
steps+=':PairwiseAllToAll.*:DisseminationBarrier.*:Composition.*:Logarithms.*:Partition.*:Schedule.R*'
schedules='Catalogue/EverySchedule.*:Catalogue/EveryAllReduceSchedule.*'
formulas='Catalogue/EveryFormula.*:Formula.*'
readers='Parameter.*:Grid.*:Cost.*:Explain.*:Holdings.*:Trace.Every*:Reference.*:Verify.*:Plan.*'
threads='ThreadsCollective.*:ThreadTeam.*:Counter.*'
few='Ranks/EveryAlgorithm.Few*/1:Ranks/EveryAlgorithm.Few*/2:Ranks/EveryAlgorithm.Few*/4'
large='Ranks/EveryAlgorithm.*Large*/1:Ranks/EveryAlgorithm.*Large*/4'

case $part in
  builders)
    names=(collectives/{ring,binomial,chain,circulant,direct,dissemination,double_binary_tree}.cpp
      collectives/{hierarchical_ring,pairwise,parameter_server,pipelined_tree,recursive_doubling}.cpp
      collectives/{recursive_halving,star,swing,tree}.cpp)
    scripts/mutate.py "${names[@]}" "$@" \
      --tests "$steps" --tests "$schedules" --tests "$formulas" --tests "$readers"
    ;;
  schedule)
    scripts/mutate.py collectives/schedule.cpp collectives/partition.hpp "$@" \
      --tests "$steps" --tests "$readers" --tests "$schedules" --tests "$formulas" --tests "$few"
    ;;
  plan)
    scripts/mutate.py collectives/plan.cpp collectives/places.cpp collectives/dataflow.cpp "$@" \
      --tests 'Plan.*:*EveryPlan.*:Dataflow.*' --tests "$few" --tests 'Trace.Every*:ScheduleFile.*'
    ;;
  threads)
    scripts/mutate.py collectives/threads.cpp collectives/team.cpp collectives/team.hpp collectives/execute.hpp "$@" \
      --tests "$threads:$few" --tests "$large"
    ;;
  orders) # x86 hides most of them, ThreadSanitizer does not
    scripts/mutate.py collectives/team.cpp collectives/team.hpp "$@" --tsan --memory-orders \
      --tests "$threads" --tests "$few" --tests 'Ranks/EveryAlgorithm.*Large*/1'
    ;;
esac
