#include "bench/page_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "collectives/pages.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Never read: addresses that only stand in the text.
std::span<const std::byte> at(std::uintptr_t address, std::size_t bytes) {
  return {reinterpret_cast<const std::byte*>(address), bytes};
}

std::string mapping(std::uintptr_t begin, std::size_t bytes, std::size_t huge) {
  return fmt::format(
      "{:x}-{:x} rw-p 00000000 00:00 0\nSize: {} kB\nAnonymous: {} kB\nAnonHugePages: {:>9} kB\n"
      "FilePmdMapped:         0 kB\nVmFlags: rd wr mr mw me ac sd hg\n",
      begin, begin + bytes, bytes / 1024, bytes / 1024, huge / 1024);
}

TEST(PageReport, CountsTheMappingsThatTheBuffersLieIn) {
  const Buffers two{at(0x7f0000000000, 5 * kMiB), at(0x7f1000000000, 4 * kMiB)};
  const auto text = [](std::size_t first, std::size_t second) {
    return mapping(0x100000, 8 * kMiB, 8 * kMiB) + mapping(0x7f0000000000, 6 * kMiB, first) +
           mapping(0x7f0fffe00000, 8 * kMiB, second) + mapping(0x7f2000000000, kMiB, 0);
  };
  EXPECT_EQ(pages_under(two, text(4 * kMiB, 4 * kMiB)), "huge") << "the last MiB has no room";
  EXPECT_EQ(pages_under(two, text(4 * kMiB, 2 * kMiB)), "mixed");
  EXPECT_EQ(pages_under(two, text(0, 0)), "small") << "others' huge pages are not ours";
}

TEST(PageReport, HugePagesOfASharedWindowCountToo) {
  const auto text = [](std::size_t huge) {
    return mapping(0x7f0000000000, 6 * kMiB, 0) +
           fmt::format("ShmemPmdMapped: {} kB\n", huge / 1024);
  };
  const Buffers one{at(0x7f0000000000, 4 * kMiB)};
  EXPECT_EQ(pages_under(one, text(4 * kMiB)), "huge");
  EXPECT_EQ(pages_under(one, text(2 * kMiB)), "mixed");
  EXPECT_EQ(pages_under(one, text(0)), "small");
}

TEST(PageReport, WithoutBuffersOrWithoutAnAnswer_IsEmpty) {
  const std::string text = mapping(0x7f0000000000, 4 * kMiB, 4 * kMiB);
  EXPECT_EQ(pages_under({}, text), "");
  EXPECT_EQ(pages_under({{}}, text), "");
  EXPECT_EQ(pages_under({at(0x7f0000000000, kMiB)}, ""), "");
  EXPECT_EQ(pages_under({at(0x7f0000000000, kMiB)}, "7f0000000000-7f0000400000 rw-p\nRss: 4 kB\n"),
            "");
}

TEST(PageReport, OfOurOwnMemory_SmallWhereHugePagesAreForbidden) {
  const PageBuffer buffer({8 * kMiB}, PagePolicy::small);
  std::memset(buffer.data(), 1, 8 * kMiB);
  EXPECT_EQ(pages_under({{buffer.data(), 8 * kMiB}}), "small");
}

TEST(PageReport, OfOurOwnMemory_HugeOnlyWhereTheHostHasThem) {
  const PageBuffer buffer({8 * kMiB}, PagePolicy::huge);
  std::memset(buffer.data(), 1, 8 * kMiB);
  const std::string got = pages_under({{buffer.data(), 8 * kMiB}});
  if (this_host().huge_pages == "never") {
    EXPECT_EQ(got, "small");
  } else {
    EXPECT_TRUE(got == "huge" || got == "mixed" || got == "small")
        << got;  // memory may be in pieces
  }
}

}  // namespace
}  // namespace collmark
