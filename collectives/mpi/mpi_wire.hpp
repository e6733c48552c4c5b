/// Segments as non-blocking MPI messages.
#pragma once

#include <mpi.h>

#include <deque>
#include <vector>

#include "collectives/mpi/communicator.hpp"
#include "collectives/wire.hpp"

namespace collmark {

/// Everything travels as bytes: whoever reduces does that himself. A segment of several pieces is an MPI
/// datatype made beforehand, so that it is still one message. The communicator outlives the wire and carries
/// no other point-to-point messages while operations run.
class MpiWire final : public Wire {
 public:
  explicit MpiWire(const Communicator& comm);
  /// Gives up what is still under way, after an error: receives are cancelled, sends left to the library.
  ~MpiWire() override;
  MpiWire(const MpiWire&) = delete;
  MpiWire& operator=(const MpiWire&) = delete;

  [[nodiscard]] int prepare(std::span<const Extent> pieces) override;
  void send(int peer, int segment, const Ticket& ticket) override;
  void receive(int peer, int segment, const Ticket& ticket) override;
  [[nodiscard]] std::span<const Completed> poll() override;

 private:
  struct Segment {
    void* address = nullptr;
    int count = 0;  // of `type`
    MPI_Datatype type = MPI_BYTE;
    std::size_t bytes = 0;
  };
  struct UnderWay {
    Ticket ticket;
    std::size_t bytes = 0;  // of the segment
  };

  void drop_completed();
  void keep(MPI_Request request, const Ticket& ticket, std::size_t bytes);

  const Communicator& comm_;
  std::vector<Segment> segments_;
  std::vector<MPI_Request> requests_;  // under way, in any order
  std::vector<UnderWay> under_way_;    // [request]
  std::vector<int> indices_;           // room for what is tested
  std::vector<MPI_Status> statuses_;
  std::vector<Completed> completed_;
};

}  // namespace collmark
