#include "collectives/mpi/mpi_wire.hpp"

#include <algorithm>
#include <climits>

#include "collectives/error.hpp"
#include "collectives/index.hpp"

namespace collmark {
namespace {

constexpr int kTag =
    0;  // one is enough: the messages of a pair are received in the order of their sending

/// Pieces wherever they lie, addressed from the bottom of memory.
MPI_Datatype type_of(std::span<const Extent> pieces) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> addresses;
  for (const Extent& p : pieces) {
    lengths.push_back(static_cast<int>(p.size));
    MPI_Aint address = 0;
    check_mpi(MPI_Get_address(p.data, &address), "MPI_Get_address");
    addresses.push_back(address);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_hindexed(static_cast<int>(pieces.size()), lengths.data(),
                                     addresses.data(), MPI_BYTE, &type),
            "MPI_Type_create_hindexed");
  check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

}  // namespace

MpiWire::MpiWire(const Communicator& comm) : comm_(comm) {}

MpiWire::~MpiWire() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;  // the failure was its end
    if (under_way_[i].ticket.way == Ticket::Way::in) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
  for (Segment& s : segments_)
    if (s.type != MPI_BYTE) MPI_Type_free(&s.type);
}

int MpiWire::prepare(std::span<const Extent> pieces) {
  Segment s;
  for (const Extent& p : pieces) s.bytes += p.size;
  if (s.bytes > INT_MAX) throw Error(ErrorKind::broken, "a segment longer than an int can count");
  if (pieces.size() > 1) {
    s.type = type_of(pieces);
    s.address = MPI_BOTTOM;
    s.count = 1;
  } else if (!pieces.empty()) {
    s.address = pieces.front().data;
    s.count = static_cast<int>(s.bytes);
  }
  segments_.push_back(s);
  return static_cast<int>(segments_.size()) - 1;
}

void MpiWire::send(int peer, int segment, const Ticket& ticket) {
  const Segment& s = segments_[at(segment)];
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(s.address, s.count, s.type, peer, kTag, comm_.handle(), &request),
            "MPI_Isend");
  keep(request, ticket, s.bytes);
}

void MpiWire::receive(int peer, int segment, const Ticket& ticket) {
  const Segment& s = segments_[at(segment)];
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(s.address, s.count, s.type, peer, kTag, comm_.handle(), &request),
            "MPI_Irecv");
  keep(request, ticket, s.bytes);
}

void MpiWire::keep(MPI_Request request, const Ticket& ticket, std::size_t bytes) {
  requests_.push_back(request);
  under_way_.push_back({.ticket = ticket, .bytes = bytes});
  if (requests_.size() <= indices_.size()) return;
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
}

std::span<const Completed> MpiWire::poll() {
  completed_.clear();
  if (requests_.empty()) return completed_;
  int done = 0;
  const int status = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done,
                                  indices_.data(), statuses_.data());
  if (status == MPI_ERR_IN_STATUS)
    for (int i = 0; i < done; ++i) check_mpi(statuses_[at(i)].MPI_ERROR, "MPI_Testsome");
  check_mpi(status, "MPI_Testsome");
  for (int i = 0; i < done; ++i) {
    const UnderWay& it = under_way_[at(indices_[at(i)])];
    Completed c{.ticket = it.ticket, .bytes = it.bytes};
    if (it.ticket.way == Ticket::Way::in) {
      int received = 0;
      check_mpi(MPI_Get_elements(&statuses_[at(i)], MPI_BYTE, &received), "MPI_Get_elements");
      c.bytes = at(received);
    }
    completed_.push_back(c);
  }
  if (done > 0) drop_completed();
  return completed_;
}

/// MPI has made them null.
void MpiWire::drop_completed() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    under_way_[kept++] = under_way_[i];
  }
  requests_.resize(kept);
  under_way_.resize(kept);
}

}  // namespace collmark
