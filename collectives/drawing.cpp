#include "collectives/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace collmark {
namespace {

constexpr int kLeastPitch = 8;  // [characters] between two ranks' lines
constexpr int kMargin = 4;      // [characters] before the first rank's line

/// "0", "0-3", "0,2,5", and beyond three pieces "8 of them".
std::string chunk_list(const std::vector<int>& chunks) {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < chunks.size();) {
    std::size_t last = i;
    while (last + 1 < chunks.size() && chunks[last + 1] == chunks[last] + 1) ++last;
    pieces.push_back(last == i ? fmt::format("{}", chunks[i])
                               : fmt::format("{}-{}", chunks[i], chunks[last]));
    i = last + 1;
  }
  if (pieces.size() > 3) return fmt::format("{} of them", chunks.size());
  return fmt::format("{}", fmt::join(pieces, ","));
}

std::string label(const Message& m) {
  if (m.verb == Verb::signal) return "";
  const std::string chunks =
      fmt::format("{}c{}", m.verb == Verb::reduce ? "+" : "", chunk_list(m.src_chunks));
  return m.src_chunks == m.dst_chunks ? chunks : chunks + ">" + chunk_list(m.dst_chunks);
}

std::string words(const Message& m) {
  if (m.verb == Verb::signal) return fmt::format("rank {} hears from rank {}", m.dst, m.src);
  const std::string as =
      m.src_chunks == m.dst_chunks ? "" : fmt::format(" as {}", chunk_list(m.dst_chunks));
  const std::string from = m.src == m.dst ? "of its own" : fmt::format("from rank {}", m.src);
  return fmt::format("rank {} {} chunk{} {}{} {}", m.dst, m.verb == Verb::reduce ? "adds" : "takes",
                     m.src_chunks.size() > 1 ? "s" : "", chunk_list(m.src_chunks), as, from);
}

/// The ranks' lines, and across them one arrow with its label in the middle.
std::string arrow(int ranks, int pitch, const Message& m) {
  const auto column = [=](int rank) {
    const int at = kMargin + rank * pitch;
    return static_cast<std::size_t>(at);
  };
  std::string line(column(ranks - 1) + 1, ' ');
  for (int r = 0; r < ranks; ++r) line[column(r)] = '|';
  if (m.src == m.dst) {
    line[column(m.src)] = 'o';
    return line;
  }
  const std::size_t left = column(std::min(m.src, m.dst)) + 1;
  const std::size_t right = column(std::max(m.src, m.dst));  // one past the arrow
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(left),
            line.begin() + static_cast<std::ptrdiff_t>(right), '-');
  m.src < m.dst ? line[right - 1] = '>' : line[left] = '<';
  const std::string text = label(m);
  line.replace(left + (right - left - text.size()) / 2, text.size(), text);
  return line;
}

}  // namespace

std::vector<Message> messages(const Schedule& s, int step) {
  std::vector<Message> list;
  std::map<std::tuple<int, int, Verb>, std::size_t> place;
  s.step(step, [&](const Transfer& x) {
    const auto [found, fresh] = place.try_emplace({x.src, x.dst, x.verb}, list.size());
    if (fresh) list.push_back({x.src, x.dst, x.verb, {}, {}});
    Message& m = list[found->second];
    for (int i = 0; i < x.count; ++i) {
      m.src_chunks.push_back(x.src_chunk + i);
      m.dst_chunks.push_back(x.dst_chunk + i);
    }
  });
  return list;
}

std::string draw_messages(const Schedule& s, const std::vector<Message>& list) {
  int pitch = kLeastPitch;
  for (const Message& m : list) pitch = std::max(pitch, static_cast<int>(label(m).size()) + 4);
  std::string text(kMargin, ' ');
  for (int r = 0; r < s.ranks; ++r)
    text += r + 1 < s.ranks ? fmt::format("{:<{}}", r, pitch) : fmt::format("{}", r);
  text += "\n";
  for (const Message& m : list)
    text += fmt::format("{}    {}\n", arrow(s.ranks, pitch, m), words(m));
  return text;
}

std::string draw_holdings(const Schedule& s, const Holdings& holdings) {
  const auto cell = [&](int rank, int chunk) {
    return holdings.text(rank, chunk) + (holdings.written(rank, chunk) ? "*" : " ");
  };
  std::size_t width = 3;
  for (int r = 0; r < s.ranks; ++r)
    for (int c = 0; c < s.chunks; ++c) width = std::max(width, cell(r, c).size());
  std::string text = "    holds     ";
  for (int c = 0; c < s.chunks; ++c)
    text += fmt::format(" {:>{}} ", fmt::format("c{}", c), width - 1);
  text.erase(text.find_last_not_of(' ') + 1);
  for (int r = 0; r < s.ranks; ++r) {
    text += fmt::format("\n    rank {:<4} ", r);
    for (int c = 0; c < s.chunks; ++c) text += fmt::format(" {:>{}}", cell(r, c), width);
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text + "\n";
}

}  // namespace collmark
