#include "bench/mpi/last_words.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>

namespace collmark {
namespace {

/// Where rank 0 has its page: an open file without a name, which others of its host find under /proc.
struct Offer {
  int pid = 0, file = -1;
  std::uint64_t token = 0;
};

Offer made_offer(std::size_t size) {
  Offer offer{.pid = getpid(), .file = memfd_create("collmark-last-words", MFD_CLOEXEC)};
  if (offer.file >= 0 && ftruncate(offer.file, static_cast<off_t>(size)) != 0) {
    close(offer.file);
    offer.file = -1;
  }
  std::random_device random;
  offer.token = (std::uint64_t{random()} << 32) | random() | 1;
  return offer;
}

}  // namespace

LastWords::Page* LastWords::mapped(int file, std::size_t size) {
  if (file < 0) return nullptr;
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return page == MAP_FAILED ? nullptr : static_cast<Page*>(page);
}

LastWords::LastWords(const Hosts& hosts, int rank)
    : size_(sizeof(Page) + sizeof(Slot) * hosts.of.size()), heard_(hosts.of.size()) {
  Offer offer = rank == 0 ? made_offer(size_) : Offer{};
  if (rank == 0 && (page_ = mapped(offer.file, size_)) != nullptr) page_->token = offer.token;
  MPI_Bcast(&offer, sizeof offer, MPI_BYTE, 0, MPI_COMM_WORLD);
  const bool near = hosts.of[static_cast<std::size_t>(rank)] == hosts.of.front();
  if (rank != 0 && near && offer.file >= 0) {
    const std::string path = fmt::format("/proc/{}/fd/{}", offer.pid, offer.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file >= 0 && lseek(file, 0, SEEK_END) == static_cast<off_t>(size_))
      page_ = mapped(file, size_);
    if (file >= 0) close(file);
    if (page_ != nullptr && page_->token != offer.token) {
      munmap(page_, size_);
      page_ = nullptr;
    }
  }
  const int mine = page_ != nullptr ? 1 : 0;
  MPI_Allgather(&mine, 1, MPI_INT, heard_.data(), 1, MPI_INT, MPI_COMM_WORLD);
  if (rank == 0 && offer.file >= 0) close(offer.file);  // all who could have mapped it
  if (rank != 0) std::fill(heard_.begin(), heard_.end(), 0);
  rank_ = rank;
}

LastWords::~LastWords() {
  if (page_ != nullptr) munmap(page_, size_);
}

void LastWords::order_told() noexcept {
  if (page_ != nullptr) page_->told.fetch_add(1, std::memory_order_relaxed);
}

void LastWords::order_done() noexcept {
  if (page_ != nullptr) slot(rank_).done.fetch_add(1, std::memory_order_relaxed);
}

bool LastWords::is_idle(int rank) const {
  return hears(rank) && slot(rank).done.load(std::memory_order_relaxed) ==
                            page_->told.load(std::memory_order_relaxed);
}

void LastWords::say(const RankFailure& failure) noexcept {
  if (page_ == nullptr) return;
  Slot& mine = slot(rank_);
  std::copy_n(failure.what.begin(), std::min(failure.what.size(), mine.what.size() - 1),
              mine.what.begin());
  mine.kind.store(exit_code(failure.kind),
                  std::memory_order_release);  // pairs with acquire in of()
}

std::optional<RankFailure> LastWords::of(int rank) const {
  if (!hears(rank)) return std::nullopt;
  const Slot& its = slot(rank);
  const int kind = its.kind.load(std::memory_order_acquire);
  if (kind == 0) return std::nullopt;
  return RankFailure{.kind = static_cast<ErrorKind>(kind), .rank = rank, .what = its.what.data()};
}

}  // namespace collmark
