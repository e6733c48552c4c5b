/// How long data take from one block to another: two blocks, of one GPU or of two, throw them to and fro.
///
///   end 0    send 1 ──> receive 1 ──> ...        a mailbox lies at its reader
///   end 1    receive 1, send 1 ──> ...           counts go on from launch to launch, nothing is reset
///
///   flag_hops           8 bytes, then a flag: release and acquire, as links and meetings do (flag.hpp)
///   low_latency_hops    8 bytes that carry their flags in one line of 16 bytes (low_latency.hpp)
///   word_hops           4 bytes that carry their flag in one word of 8: the least that can
///
/// One thread of each block works. A launch of no trips is an empty kernel.
#pragma once

#include "kernels/flag.hpp"

namespace collmark {

/// Zeros at first.
struct alignas(128) Mailbox {
  std::uint64_t line[2];  // of low latency
  std::uint64_t word;     // data and flag
  std::uint64_t data;
  std::uint32_t flag;  // the data of so many trips have come
};

struct Hops {
  Mailbox* boxes[2] = {nullptr, nullptr};  // [end]
  int first_end = 0;                       // of the launch: its block b is end first_end + b
  std::uint32_t begun = 0;                 // trips of all launches before
  int trips = 0;                           // there and back
  std::uint32_t* wrong = nullptr;          // [end]: data that came were not those that were sent
  std::uint32_t* given_up = nullptr;
  Stuck* stuck = nullptr;                    // [block]
  std::int64_t longest_wait = kLongestWait;  // [ns] for a flag, before an end gives up
};

/// What trip number n carries.
COLLMARK_DEVICE std::uint64_t cargo(std::uint32_t n) {
  return (std::uint64_t{n} << 32 | n) ^ 0x5bd1e9955bd1e995;
}

struct ByFlag {
  static COLLMARK_DEVICE std::uint64_t carried(std::uint32_t n) { return cargo(n); }
  static COLLMARK_DEVICE void send(Mailbox* box, std::uint32_t n) {
    box->data = cargo(n);
    store_release(&box->flag, n);  // pairs with the acquire of wait_for
  }
  /// False if nothing comes.
  static COLLMARK_DEVICE bool receive(Mailbox* box, std::uint32_t n, const Patience& w,
                                      std::uint64_t* data) {
    if (!wait_for(&box->flag, n, w)) return false;
    *data = box->data;
    return true;
  }
};

struct ByLine {
  static COLLMARK_DEVICE std::uint64_t carried(std::uint32_t n) { return cargo(n); }
  static COLLMARK_DEVICE void send(Mailbox* box, std::uint32_t n) {
    const std::uint64_t data = cargo(n), flag = std::uint64_t{n} << 32;
    store_words(box->line, (data & 0xffffffff) | flag, (data >> 32) | flag);
  }
  static COLLMARK_DEVICE bool receive(Mailbox* box, std::uint32_t n, const Patience& w,
                                      std::uint64_t* data) {
    std::uint64_t a, b;
    const auto look = [&] {
      load_words(box->line, &a, &b);
      return Found{a >> 32 == n && b >> 32 == n, flag_of_both(a, b, n)};
    };
    if (!wait_until(look, n, w)) return false;
    *data = (a & 0xffffffff) | b << 32;
    return true;
  }
};

struct ByWord {
  static COLLMARK_DEVICE std::uint64_t carried(std::uint32_t n) { return cargo(n) & 0xffffffff; }
  static COLLMARK_DEVICE void send(Mailbox* box, std::uint32_t n) {
    store_word(&box->word, carried(n) | std::uint64_t{n} << 32);
  }
  static COLLMARK_DEVICE bool receive(Mailbox* box, std::uint32_t n, const Patience& w,
                                      std::uint64_t* data) {
    std::uint64_t word = 0;
    const auto look = [&] {
      word = load_word(&box->word);
      const auto flag = static_cast<std::uint32_t>(word >> 32);
      return Found{flag == n, flag};
    };
    if (!wait_until(look, n, w)) return false;
    *data = word & 0xffffffff;
    return true;
  }
};

template <class Way>
COLLMARK_DEVICE void hops(const Hops& what) {
  if (thread_index() != 0) return;
  const int end = what.first_end + block_index();
  for (int trip = 1; trip <= what.trips; ++trip) {
    const std::uint32_t n = what.begun + static_cast<std::uint32_t>(trip);
    const Patience patience{
        .given_up = what.given_up,
        .stuck = &what.stuck[block_index()],
        .longest = what.longest_wait,
        .wait = {.what = Awaited::message, .rank = end, .peer = 1 - end, .step = trip}};
    std::uint64_t data;
    if (end == 0) Way::send(what.boxes[1], n);
    if (!Way::receive(what.boxes[end], n, patience, &data)) return;
    if (data != Way::carried(n)) what.wrong[end] = 1;
    if (end == 1) Way::send(what.boxes[0], n);
  }
}

COLLMARK_KERNEL void flag_hops(const Hops& what) { hops<ByFlag>(what); }
COLLMARK_KERNEL void low_latency_hops(const Hops& what) { hops<ByLine>(what); }
COLLMARK_KERNEL void word_hops(const Hops& what) { hops<ByWord>(what); }

}  // namespace collmark
