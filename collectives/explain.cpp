#include "collectives/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "collectives/drawing.hpp"

namespace collmark {
namespace {

constexpr int kMostLines = 40;  // of a summary

std::string promise_in_words(const Schedule& s) {
  switch (s.collective) {
    case Collective::all_reduce:
      return "Every rank starts with a buffer of its own and ends with the sum of all of them.";
    case Collective::reduce_scatter:
      return "Every rank starts with a buffer of its own and ends with its part of their sum.";
    case Collective::all_gather:
      return "Every rank starts with its part of a buffer and ends with all of it.";
    case Collective::broadcast:
      return fmt::format("Rank {} has a buffer; in the end everybody has it.", s.root);
    case Collective::reduce:
      return fmt::format("Every rank starts with a buffer; rank {} ends with their sum.", s.root);
    case Collective::all_to_all:
      return "Every rank starts with a block for every other, and ends with a block from each.";
    case Collective::barrier:
      return "No data: nobody leaves before everybody has arrived.";
  }
  return "";
}

std::string servers_in_words(const Schedule& s) {
  if (s.servers == 0) return "";
  if (s.servers == 1) return " Rank 0 only serves: it adds nothing of its own.";
  return fmt::format(" Ranks 0-{} only serve: they add nothing of their own.", s.servers - 1);
}

std::string legend(const Schedule& s) {
  switch (s.collective) {
    case Collective::barrier:
      return "An arrow is a message without data. Tables: whom each rank knows to have arrived, "
             "'all' = everybody;\n* = learned in this step.\n";
    case Collective::all_to_all:
      return fmt::format(
          "'c1>4' = chunk 1 arrives as chunk 4. Chunks 0-{} are the input, the others the output. "
          "Tables: 0>2 =\nrank 0's block for rank 2, . = nothing yet, * = written in this step.\n",
          s.ranks - 1);
    case Collective::all_gather:
    case Collective::broadcast:
      return "'c0' = chunk 0 is copied. Tables: whose data each rank holds, . = nothing yet, "
             "* = written in this step.\n";
    default:
      return "'+c0' = chunk 0, added on arrival; 'c0' = copied. Tables: the ranks whose values are "
             "added up there,\nsum = all of them, . = nothing yet, * = written in this step.\n";
  }
}

/// The messages that cross a link.
std::vector<Message> crossing(const Schedule& s, int step) {
  std::vector<Message> list = messages(s, step);
  list.erase(
      std::remove_if(list.begin(), list.end(), [](const Message& m) { return m.src == m.dst; }),
      list.end());
  return list;
}

/// The one value that `of` has for all messages, or -1.
template <class Of>
int common(const std::vector<Message>& list, Of of) {
  const int first = of(list.front());
  const bool same =
      std::all_of(list.begin(), list.end(), [&](const Message& m) { return of(m) == first; });
  return same ? first : -1;
}

std::string who_sends(const Schedule& s, const std::vector<Message>& list) {
  const auto size = static_cast<int>(list.size());
  const int shift = common(list, [&](const Message& m) { return mod(m.dst - m.src, s.ranks); });
  const int bits = common(list, [](const Message& m) { return m.src ^ m.dst; });
  if (size == 1) return fmt::format("rank {} sends to rank {}", list[0].src, list[0].dst);
  if (size == s.ranks && shift == 1) return "every rank sends to the next";
  if (size == s.ranks && shift == s.ranks - 1) return "every rank sends to the one before";
  if (size == s.ranks && bits > 0)
    return fmt::format("every rank r exchanges with rank r xor {}", bits);
  if (size == s.ranks && shift > 0)
    return fmt::format("every rank sends to the one {} further on", shift);
  if (size == s.ranks * (s.ranks - 1)) return "every rank sends to every other";
  if (const int root = common(list, [](const Message& m) { return m.dst; }); root >= 0)
    return fmt::format("{} ranks send to rank {}", size, root);
  if (const int root = common(list, [](const Message& m) { return m.src; }); root >= 0)
    return fmt::format("rank {} sends to {} ranks", root, size);
  std::vector<std::string> some;
  for (const Message& m : list) {
    if (some.size() == 4) break;
    some.push_back(fmt::format("{}->{}", m.src, m.dst));
  }
  return fmt::format("{} messages: {}{}", size, fmt::join(some, " "), size > 4 ? " ..." : "");
}

std::string what_is_sent(const Schedule& s, const std::vector<Message>& list) {
  const auto [least, most] = std::minmax_element(
      list.begin(), list.end(),
      [](const Message& a, const Message& b) { return a.src_chunks.size() < b.src_chunks.size(); });
  const std::size_t low = least->src_chunks.size(), high = most->src_chunks.size();
  if (high == 0) return "; no data";
  const auto whole = static_cast<std::size_t>(
      s.collective == Collective::all_to_all ? s.ranks : s.chunks);  // the other half is output
  const std::string amount = low == whole  ? "the whole buffer"
                             : low == high ? fmt::format("{} of {} chunks", low, whole)
                                           : fmt::format("{} to {} of {} chunks", low, high, whole);
  std::set<Verb> verbs;
  for (const Message& m : list) verbs.insert(m.verb);
  const char* const arrival = verbs.size() > 1                ? "some added, some copied"
                              : verbs.count(Verb::reduce) > 0 ? "added on arrival"
                                                              : "copied";
  return fmt::format("; {}{}, {}", amount, list.size() > 1 ? " each" : "", arrival);
}

std::string drawn(const Schedule& s) {
  Holdings holdings(s);
  std::string text = legend(s) + "\nAt the start\n" + draw_holdings(s, holdings);
  for (int t = 0; t < s.steps; ++t) {
    holdings.advance(t);
    text += fmt::format("\nStep {}: {}\n", t, explain_step(s, t));
    text += draw_messages(s, messages(s, t)) + draw_holdings(s, holdings);
  }
  return text;
}

/// Same traffic may mean adding first and copying later. The last step in [first, end) of which the
/// same can be said as of `first`, if that holds for one stretch from there.
int last_alike(const Schedule& s, int first, int end) {
  const std::string said = explain_step(s, first);
  int alike = first;
  while (end - alike > 1) {
    const int middle = alike + (end - alike) / 2;
    (explain_step(s, middle) == said ? alike : end) = middle;
  }
  return alike;
}

std::string summed_up(const Schedule& s) {
  std::string text;
  int lines = 0, run_end = 0;
  for (const TrafficRun& run : traffic_runs(s)) {
    int step = run_end;
    run_end += run.steps;
    while (step < run_end) {
      if (++lines > kMostLines)
        return text + fmt::format("  ... and {} more steps\n", s.steps - step);
      const int last = last_alike(s, step, run_end);
      text +=
          last == step ? fmt::format("  step {}", step) : fmt::format("  steps {}-{}", step, last);
      text += ": " + explain_step(s, step) + "\n";
      step = last + 1;
    }
  }
  return text;
}

}  // namespace

std::string explain_step(const Schedule& s, int step) {
  const std::vector<Message> list = crossing(s, step);
  if (list.empty()) return "nothing crosses a link";
  return who_sends(s, list) + what_is_sent(s, list);
}

std::string explain_steps(const Schedule& s) {
  const std::string promise = promise_in_words(s) + servers_in_words(s) + "\n";
  if (s.steps == 0) return promise + "\nNothing has to move.\n";
  const bool small = s.ranks <= kMostDrawnRanks && s.chunks <= kMostDrawnChunks;
  return promise + (small ? drawn(s) : "\n" + summed_up(s));
}

}  // namespace collmark
