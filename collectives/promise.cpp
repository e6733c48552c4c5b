#include "collectives/promise.hpp"

namespace collmark {
namespace {

/// The rank whose part of the result chunk c is, in collectives that cut the buffer into p parts.
int owner(const Schedule& s, int chunk) {
  return static_cast<int>(static_cast<long>(chunk) * s.ranks / s.chunks);
}

}  // namespace

std::optional<Contribution> held_before(const Schedule& s, int rank, int chunk) {
  const Contribution own{rank, chunk};
  switch (s.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::barrier:
      return s.contributes(rank) ? std::optional(own) : std::nullopt;
    case Collective::all_gather:
      return owner(s, chunk) == rank ? std::optional(own) : std::nullopt;
    case Collective::broadcast:
      return rank == s.root ? std::optional(own) : std::nullopt;
    case Collective::all_to_all:
      return chunk < s.ranks ? std::optional(own) : std::nullopt;
  }
  return std::nullopt;
}

Owed owed_after(const Schedule& s, int rank, int chunk) {
  using What = Owed::What;
  const Owed all{.what = What::every_contributor, .from = {0, chunk}};
  switch (s.collective) {
    case Collective::all_reduce:
    case Collective::barrier:
      return s.contributes(rank) ? all : Owed{};
    case Collective::reduce:
      return rank == s.root ? all : Owed{};
    case Collective::reduce_scatter:
      return owner(s, chunk) == rank ? all : Owed{};
    case Collective::all_gather:
      return {.what = What::one, .from = {owner(s, chunk), chunk}};
    case Collective::broadcast:
      return {.what = What::one, .from = {s.root, chunk}};
    case Collective::all_to_all:
      if (chunk < s.ranks) return {};
      return {.what = What::one, .from = {chunk - s.ranks, rank}};
  }
  return {};
}

}  // namespace collmark
