#include "collectives/mpi/mpi_collective.hpp"

namespace collmark {

MpiCollective::MpiCollective(const Communicator& comm, const Schedule& schedule,
                             const MessageData& data, const MessageOptions& options)
    : wire_(comm), run_(wire_, fitting(schedule, comm), comm.rank(), data, options) {}

}  // namespace collmark
