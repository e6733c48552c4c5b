#include "collectives/message_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"
#include "collectives/message_network.hpp"
#include "collectives/random_schedule.hpp"
#include "collectives/test_data.hpp"

namespace collmark {
namespace {

struct Setting {
  Schedule schedule;
  Payload payload;
  bool in_place = false;
  MessageOptions options = {};
  std::uint64_t seed = 1;
  std::vector<ByteBuffer> outputs = {};  // what lies there before; empty: 0xA5 everywhere
};

/// All ranks of one schedule over a network of chance, several operations in a row.
class Trial {
 public:
  Trial(const Setting& setting, const Expectation& expected)
      : setting_(setting),
        network_(setting.schedule.ranks, setting.seed),
        outputs_(setting.outputs),
        inputs_(at(setting.schedule.ranks), ByteBuffer(bytes(setting.payload), std::byte{0xA5})) {
    if (outputs_.empty()) outputs_ = inputs_;
    for (int r = 0; r < setting.schedule.ranks; ++r) {
      std::byte* const output = outputs_[at(r)].data();
      const MessageData data{
          setting.payload,
          {.input = setting.in_place ? output : inputs_[at(r)].data(), .output = output}};
      runs_.push_back(std::make_unique<MessageRun>(network_.wire(r), setting.schedule, r, data,
                                                   setting.options));
    }
    for (std::size_t i = 0; i < expected.inputs.size() && fault_.empty(); ++i)
      operate(expected.inputs[i], expected.outputs[i]);
  }

  /// Empty: every owed chunk equals the reference, inputs are whole, nobody was stuck.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] const MessageRun& run(int rank) const { return *runs_[at(rank)]; }
  [[nodiscard]] std::size_t most_posted() const { return network_.most_posted(); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void operate(const std::vector<ByteBuffer>& in, const std::vector<ByteBuffer>& out) {
    std::vector<ByteBuffer>& filled = setting_.in_place ? outputs_ : inputs_;
    for (std::size_t r = 0; r < in.size(); ++r)
      std::copy(in[r].begin(), in[r].end(), filled[r].begin());
    fault_ = network_.drive(runs_);
    for (int r = 0; r < setting_.schedule.ranks && fault_.empty(); ++r) {
      if (!owed_equal(setting_.schedule, setting_.payload, r, {outputs_[at(r)], out[at(r)]}))
        fault_ = fmt::format("rank {} differs from the reference", r);
      if (!setting_.in_place && inputs_[at(r)] != in[at(r)])
        fault_ = fmt::format("rank {} lost its input", r);
    }
  }

  Setting setting_;
  MessageNetwork network_;
  std::vector<ByteBuffer> outputs_, inputs_;
  std::vector<std::unique_ptr<MessageRun>> runs_;
  std::string fault_;
};

MessageOptions cut(std::int64_t segment_bytes, int window) {
  return {
      .segments = {.reduced = {segment_bytes}, .copied = {3 * segment_bytes}, .window = window}};
}

/// Calls visit(algorithm, schedule) for all that exist for so many ranks; returns how many.
template <class Visit>
int for_each_schedule(int ranks, const Visit& visit) {
  int visited = 0;
  for (const Algorithm& a : catalogue()) {
    if (!is_supported(a, ranks)) continue;
    SCOPED_TRACE(fmt::format("{} {} N={}", name(a.collective), a.name, ranks));
    visit(build(a.collective, a.name, ranks));
    ++visited;
  }
  return visited;
}

class EveryAlgorithmInMessages : public testing::TestWithParam<int> {};

TEST_P(EveryAlgorithmInMessages, EqualsReferenceInAnyOrderOfDelivery_AllCountsPlacementsAndCuts) {
  const int ranks = GetParam();
  std::uint64_t seed = 0;
  const int visited = for_each_schedule(ranks, [&](const Schedule& s) {
    for (const std::int64_t count : {0, 1, ranks - 1, ranks, ranks + 1, 1003}) {
      const Payload payload{.count = {count}};
      const Expectation expected = expect(s, payload, 2);
      for (const bool in_place : {false, true}) {
        for (const auto& options : {MessageOptions{}, cut(8, 1), cut(64, 2), cut(104, 3)}) {
          const Trial trial({s, payload, in_place, options, ++seed}, expected);
          EXPECT_EQ(trial.fault(), "")
              << count << " elements, " << (in_place ? "in" : "out of") << " place, segments of "
              << options.segments.reduced.value << " bytes, seed " << seed;
        }
      }
    }
  });
  EXPECT_GE(visited, 25);  // two of all want a power of two
}

TEST_P(EveryAlgorithmInMessages, EqualsReferenceForAllDtypesAndOps) {
  for_each_schedule(GetParam(), [&](const Schedule& s) {
    for (const Dtype dtype : kDtypes) {
      for (const ReduceOp op : kReduceOps) {
        if (!reduces(s.collective) && op != ReduceOp::sum) continue;
        const Payload payload{.count = {131}, .dtype = dtype, .op = op};
        const Expectation expected = expect(s, payload, 2);
        for (const bool in_place : {false, true})
          EXPECT_EQ(Trial({s, payload, in_place, cut(64, 2), 3}, expected).fault(), "")
              << name(dtype) << " " << name(op) << (in_place ? " in place" : " out of place");
      }
    }
  });
}

TEST_P(EveryAlgorithmInMessages, MovesTheBytesAndMessagesThatTheScheduleLists_HoweverTheyAreCut) {
  for_each_schedule(GetParam(), [&](const Schedule& s) {
    for (const std::int64_t count : {0, 5, 75}) {
      const Payload payload{.count = {count}};
      const std::vector<Moved> listed = listed_moves(s, payload);
      for (const auto& options : {MessageOptions{}, cut(16, 2)}) {
        const Trial trial({s, payload, true, options}, expect(s, payload, 3));
        ASSERT_EQ(trial.fault(), "");
        for (int r = 0; r < s.ranks; ++r) {
          const Moved moved = trial.run(r).moved(), expected = listed[static_cast<std::size_t>(r)];
          EXPECT_EQ(moved.sent, expected.sent) << r;
          EXPECT_EQ(moved.received, expected.received) << r;
          EXPECT_EQ(moved.messages, expected.messages) << r;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryAlgorithmInMessages, testing::Range(1, 10),
                         testing::PrintToStringParamName());

TEST(MessageRun, RandomSchedules_EqualReferenceBitForBit) {
  std::mt19937 random(6);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Collective collective = seed % 2 == 0 ? Collective::all_to_all : Collective::all_reduce;
    const Schedule s = random_schedule(random, collective);
    const Payload payload{.count = {36}};  // chunks of one size: some transfers rename theirs
    const Expectation expected = expect(s, payload, 1);
    for (const bool in_place : {false, true}) {
      const MessageOptions options = cut(8, 1 + static_cast<int>(seed % 3));
      // What is never written keeps the input's bits in the reference.
      const Trial trial({s, payload, in_place, options, seed, expected.inputs[0]}, expected);
      ASSERT_EQ(trial.fault(), "") << listed(s) << (in_place ? " in place" : " out of place");
    }
  }
}

Schedule one_step(int ranks, int chunks, std::vector<Transfer> list) {
  return {.ranks = ranks, .chunks = chunks, .steps = 1, .step = [=](int, Emit emit) {
            for (const Transfer& x : list) emit(x);
          }};
}

TEST(MessageRun, MessagesWithTheSameChunksInDifferentOrder_DoNotWaitForEachOther) {
  const Schedule crossed =
      one_step(3, 2, {Reduce{1, 0, 0}, Reduce{1, 0, 1}, Reduce{2, 0, 1}, Reduce{2, 0, 0}});
  const Payload payload{.count = {200}};
  const Expectation expected = expect(crossed, payload, 1);
  for (std::uint64_t seed = 1; seed < 50; ++seed)
    EXPECT_EQ(Trial({crossed, payload, true, cut(8, 1), seed}, expected).fault(), "");
}

TEST(MessageRun, PostsNoMoreThanItsWindowAndStagesNoMore) {
  const Schedule ring = build(Collective::all_reduce, "ring", 4);
  const Payload payload{.count = {4000}};
  for (const int window : {1, 2, 5}) {
    const Trial trial({ring, payload, true, cut(64, window), 5}, expect(ring, payload, 2));
    EXPECT_EQ(trial.fault(), "");
    EXPECT_EQ(trial.most_posted(), static_cast<std::size_t>(window));
    EXPECT_EQ(trial.run(1).scratch(), Bytes{64 * window});
  }
}

TEST(MessageRun, AMessageShorterOrLongerThanDue_IsAnError) {
  const Schedule star = build(Collective::broadcast, "star", 2);
  for (const std::int64_t other : {9, 11}) {
    MessageNetwork network(2, 1);
    std::vector<ByteBuffer> data(2, ByteBuffer(64));
    const auto part = [&](int rank, std::int64_t count) {
      std::byte* const bytes = data[static_cast<std::size_t>(rank)].data();
      return MessageData{{.count = {count}}, {bytes, bytes}};
    };
    std::vector<std::unique_ptr<MessageRun>> runs;
    runs.push_back(std::make_unique<MessageRun>(network.wire(0), star, 0, part(0, other)));
    runs.push_back(std::make_unique<MessageRun>(network.wire(1), star, 1, part(1, 10)));
    try {
      network.drive(runs);
      FAIL() << "nobody noticed";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::lost);
      EXPECT_EQ(
          std::string(e.what()),
          fmt::format("rank 1: {} of 40 bytes moved between it and rank 0 in step 0", 4 * other));
    }
  }
}

/// The error of rank 0 in a ring of 3 whose other ranks never come.
Error error_of_the_only_one(const MessageOptions& options) {
  MessageNetwork network(3, 1);
  ByteBuffer data(48);
  MessageRun run(network.wire(0), build(Collective::all_reduce, "ring", 3), 0,
                 {{.count = {12}}, {data.data(), data.data()}}, options);
  try {
    run.run();
  } catch (const Error& e) {
    return e;
  }
  return {ErrorKind::broken, "it came to an end"};
}

TEST(MessageRun, APeerThatNeverComes_IsNamedWithTheStep) {
  const Error e = error_of_the_only_one({.timeout = std::chrono::milliseconds(20)});
  EXPECT_EQ(e.kind(), ErrorKind::timed_out);
  EXPECT_EQ(std::string(e.what()),
            "nothing came for 20 ms: rank 0 waits for rank 2 to send its message in step 0");
}

TEST(MessageRun, AnInterruptEndsTheWait) {
  const std::atomic<bool> interrupted{true};
  EXPECT_EQ(error_of_the_only_one({.interrupted = &interrupted}).kind(), ErrorKind::interrupted);
}

TEST(MessageRun, RefusesSegmentsAndWindowsThatCarryNothing) {
  const auto kind = [](const SegmentOptions& segments) {
    try {
      MessageNetwork network(1, 1);
      ByteBuffer data(48);
      const MessageRun run(network.wire(0), build(Collective::all_reduce, "ring", 1), 0,
                           {{.count = {12}}, {data.data(), data.data()}}, {.segments = segments});
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::broken;
  };
  EXPECT_EQ(kind({.reduced = {7}}), ErrorKind::usage);
  EXPECT_EQ(kind({.copied = {(std::int64_t{1} << 30) + 1}}), ErrorKind::usage);
  EXPECT_EQ(kind({.window = 0}), ErrorKind::usage);
}

}  // namespace
}  // namespace collmark
