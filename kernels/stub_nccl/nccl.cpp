/// The functions of nccl_abi.hpp by the names that NCCL exports, over the stub driver's memory and streams.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/stub_nccl/communicator.hpp"
#include "kernels/stub_nccl/driver.hpp"
#include "kernels/stub_nccl/log.hpp"

namespace collmark::nccl {
namespace {

using stub::Call;
using stub::happens;
using What = Call::What;

/// A rank's work of one group, in its stream. It may be run again, from a graph, so it is kept.
struct Queued {
  std::shared_ptr<stub::Clique> clique;
  int rank;
  stub::Work work;
  bool hangs, spoils;
};
void keep(std::unique_ptr<Queued> queued) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::vector<std::unique_ptr<Queued>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(queued));
}

void run(void* data) {
  const Queued& queued = *static_cast<const Queued*>(data);
  if (queued.hangs) return queued.clique->wait_for_abort();
  queued.clique->meet(queued.rank, queued.work);
  const Call& last = queued.work.back();
  const std::size_t size = last.count * stub::size_of(last.type);
  if (queued.spoils && size > 0) static_cast<std::byte*>(last.receive)[size / 2] ^= std::byte{1};
}

const char* name_of(What what) {
  switch (what) {
    case What::all_reduce:
      return "AllReduce";
    case What::reduce_scatter:
      return "ReduceScatter";
    case What::all_gather:
      return "AllGather";
    case What::broadcast:
      return "Broadcast";
    case What::reduce:
      return "Reduce";
    default:
      return "Send";
  }
}

struct OfOneRank {
  cu::Stream stream;
  stub::Work work;
};
/// Of the calling thread.
struct Group {
  int depth = 0;
  std::vector<std::pair<Comm, OfOneRank>> ranks;
};
thread_local Group group;

Result refusal(const Call& call) {
  stub::set_last_error(std::string("Error : no algorithm/protocol available for function ") +
                       name_of(call.what));
  return Result::internal_error;
}

Result queue(Comm comm, OfOneRank one) {
  const Call& first = one.work.front();
  if (comm->error != Result::success) return comm->error;
  if (comm->forced && happens("refuse_algorithm")) return refusal(first);
  if (comm->rank == 0 && !happens("silent")) {
    const std::string other = comm->algorithm == "RING" ? "TREE" : "RING";
    stub::log_choice(name_of(first.what), first.count * stub::size_of(first.type),
                     happens("other_algorithm") ? other : comm->algorithm, comm->protocol);
  }
  const bool fails = comm->rank == 0 && happens("async_error");
  if (fails) {
    comm->error = Result::remote_error;
    stub::set_last_error("remote process exited or there was a network error");
  }
  auto queued = std::make_unique<Queued>(Queued{comm->clique, comm->rank, std::move(one.work),
                                                fails || happens("hang"),
                                                comm->rank == 0 && happens("wrong")});
  cu::Context before = nullptr;
  (void)stub::loaded_driver().get_current(&before);
  (void)stub::loaded_driver().set_current(comm->context);
  const cu::Status status = stub::loaded_driver().launch_host(one.stream, run, queued.get());
  (void)stub::loaded_driver().set_current(before);
  keep(std::move(queued));
  comm->questions = 1;
  return status == cu::Status::success ? Result::in_progress : Result::unhandled_cuda_error;
}

Result end_group() {
  if (--group.depth > 0) return Result::success;
  Result worst = Result::success;
  for (auto& [comm, one] : std::exchange(group.ranks, {})) {
    const Result result = queue(comm, std::move(one));
    if (worst == Result::success || worst == Result::in_progress) worst = result;
  }
  return worst;
}

Result call(Comm comm, cu::Stream stream, const Call& one) {
  ++group.depth;
  auto& ranks = group.ranks;
  if (ranks.empty() || ranks.back().first != comm) ranks.push_back({comm, {stream, {}}});
  ranks.back().second.work.push_back(one);
  return end_group();
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// What collmark calls it: no row of it passes for NCCL's.
extern const char collmark_stub_nccl[];
const char collmark_stub_nccl[] = "collmark stub of NCCL (CPU, no GPU)";

Result ncclGetVersion(int* version) {
  stub::start_over();
  *version = happens("old") ? 21701 : happens("old_form") ? 22304 : kHeaderVersion;
  return Result::success;
}

Result ncclGetUniqueId(UniqueId* id) {
  static std::atomic<int> next{0};
  *id = {};
  (void)std::snprintf(id->internal, sizeof id->internal, "stub %d", next.fetch_add(1));
  return Result::success;
}

Result ncclCommInitRankConfig(Comm* comm, int ranks, UniqueId id, int rank, Config* config) {
  if (config->magic != Config{}.magic || config->blocking != 0) return Result::invalid_argument;
  if (rank < 0 || rank >= ranks) return Result::invalid_argument;
  *comm = stub::new_rank(id.internal, ranks, rank);
  return Result::in_progress;
}

Result ncclCommSplit(Comm comm, int color, int key, Comm* made, Config*) {
  *made = stub::split(comm, color, key);
  return Result::in_progress;
}

Result ncclCommFinalize(Comm comm) {
  comm->questions = 1;
  return Result::in_progress;
}

Result ncclCommDestroy(Comm comm) { return delete comm, Result::success; }

Result ncclCommAbort(Comm comm) {
  if (comm->clique) comm->clique->abort();
  delete comm;
  return Result::success;
}

Result ncclCommGetAsyncError(Comm comm, Result* result) {
  return *result = stub::state(comm), Result::success;
}

const char* ncclGetErrorString(Result result) {
  return result == Result::internal_error ? "internal error"
         : result == Result::remote_error ? "remote process exited or there was a network error"
         : result == Result::system_error ? "unhandled system error"
                                          : "invalid usage";
}

const char* ncclGetLastError(Comm) {
  thread_local char text[256];
  (void)std::snprintf(text, sizeof text, "%s", stub::last_error().c_str());
  return text;
}

Result ncclGroupStart() { return ++group.depth, Result::success; }

Result ncclGroupEnd() { return end_group(); }

Result ncclAllReduce(const void* send, void* receive, std::size_t count, DataType type, Op op,
                     Comm comm, cu::Stream stream) {
  return call(comm, stream, {What::all_reduce, send, receive, count, type, op});
}

Result ncclReduceScatter(const void* send, void* receive, std::size_t each, DataType type, Op op,
                         Comm comm, cu::Stream stream) {
  return call(comm, stream, {What::reduce_scatter, send, receive, each, type, op});
}

Result ncclAllGather(const void* send, void* receive, std::size_t each, DataType type, Comm comm,
                     cu::Stream stream) {
  return call(comm, stream, {What::all_gather, send, receive, each, type, Op::sum});
}

Result ncclBroadcast(const void* send, void* receive, std::size_t count, DataType type, int root,
                     Comm comm, cu::Stream stream) {
  return call(comm, stream, {What::broadcast, send, receive, count, type, Op::sum, root});
}

Result ncclReduce(const void* send, void* receive, std::size_t count, DataType type, Op op,
                  int root, Comm comm, cu::Stream stream) {
  return call(comm, stream, {What::reduce, send, receive, count, type, op, root});
}

Result ncclSend(const void* data, std::size_t count, DataType type, int peer, Comm comm,
                cu::Stream stream) {
  return call(comm, stream, {What::send, data, nullptr, count, type, Op::sum, peer});
}

Result ncclRecv(void* data, std::size_t count, DataType type, int peer, Comm comm,
                cu::Stream stream) {
  return call(comm, stream, {What::receive, nullptr, data, count, type, Op::sum, peer});
}

Result ncclMemAlloc(void** pointer, std::size_t size) {
  cu::Pointer memory = 0;
  if (stub::loaded_driver().allocate(&memory, size) != cu::Status::success)
    return Result::unhandled_cuda_error;
  *pointer = reinterpret_cast<void*>(memory);  // NOLINT(performance-no-int-to-ptr)
  return Result::success;
}

Result ncclMemFree(void* pointer) {
  (void)stub::loaded_driver().release(reinterpret_cast<cu::Pointer>(pointer));
  return Result::success;
}

Result ncclCommRegister(Comm comm, void* buffer, std::size_t, void** handle) {
  if (comm->error != Result::success || happens("no_registration")) return Result::invalid_usage;
  return *handle = buffer, Result::success;
}

Result ncclCommDeregister(Comm, void*) { return Result::success; }

void ncclResetDebugInit() { stub::reset_log(); }

}  // extern "C"
#pragma GCC visibility pop

#define COLLMARK_SAME(result, name, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Functions::name)>);
COLLMARK_NCCL_FUNCTIONS(COLLMARK_SAME)
COLLMARK_NCCL_OPTIONAL(COLLMARK_SAME)
#undef COLLMARK_SAME

}  // namespace collmark::nccl
