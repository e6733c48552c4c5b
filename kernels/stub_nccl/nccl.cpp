/// The functions of nccl_abi.hpp by the names that NCCL exports, over the stub driver's memory and streams.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
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

/// A rank's work of one group. It lives as long as a stream or a graph holds it.
struct Queued {
  std::shared_ptr<stub::Clique> clique;
  std::shared_ptr<stub::Life> life;
  stub::Work work;
  bool hangs, spoils;
};

void run(void* data) {
  const Queued& queued = *static_cast<const Queued*>(data);
  while (queued.hangs && !queued.life->aborted)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (queued.life->aborted) return;
  queued.clique->meet(queued.work, queued.life->aborted);
  const Call& last = queued.work.back();
  const std::size_t size = last.count * stub::size_of(last.type);
  if (queued.spoils && size > 0) static_cast<std::byte*>(last.receive)[size / 2] ^= std::byte{1};
}

void release(void* data) {
  const std::unique_ptr<Queued> queued(static_cast<Queued*>(data));
  --queued->life->works;
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
  if (comm->choice.forced && happens("refuse_algorithm")) return refusal(first);
  const bool is_first = comm->rank() == 0;
  if (is_first && !happens("silent")) {
    const std::string other = comm->choice.algorithm == "RING" ? "TREE" : "RING";
    stub::log_choice(name_of(first.what), first.count * stub::size_of(first.type),
                     happens("other_algorithm") ? other : comm->choice.algorithm,
                     comm->choice.protocol);
  }
  const bool fails = is_first && happens("async_error");
  if (fails) {
    comm->error = Result::remote_error;
    stub::set_last_error("remote process exited or there was a network error");
  }
  ++comm->life->works;
  auto queued =
      std::make_unique<Queued>(Queued{comm->clique, comm->life, std::move(one.work),
                                      fails || happens("hang"), is_first && happens("wrong")});
  cu::Context before = nullptr;
  (void)stub::loaded_driver().get_current(&before);
  (void)stub::loaded_driver().set_current(comm->context);
  const cu::HostWork work{.run = run, .release = release, .data = queued.release()};
  const cu::Status status = stub::loaded_driver().launch_host(one.stream, &work);
  (void)stub::loaded_driver().set_current(before);
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
  *version = happens("old")        ? 21701
             : happens("old_form") ? 22304
             : happens("new")      ? 23000
                                   : kHeaderVersion;
  return Result::success;
}

Result ncclGetUniqueId(UniqueId* id) {
  *id = {};
  const auto token = stub::new_token();
  if (!token) return Result::system_error;
  std::memcpy(id->internal, &*token, sizeof *token);
  return Result::success;
}

Result ncclCommInitRankConfig(Comm* comm, int ranks, UniqueId id, int rank, Config* config) {
  if (config->magic != Config{}.magic || config->blocking != 0) return Result::invalid_argument;
  if (rank < 0 || rank >= ranks || ranks > stub::kMostRanks) return Result::invalid_argument;
  stub::Token token;
  static_assert(sizeof token <= sizeof id.internal);
  std::memcpy(&token, id.internal, sizeof token);
  *comm = stub::new_rank(token, {.rank = rank, .ranks = ranks});
  return Result::in_progress;
}

Result ncclCommSplit(Comm comm, int color, int key, Comm* made, Config*) {
  if (comm->splitting || comm->splits == stub::kMostSplits) return Result::invalid_usage;
  stub::split(comm, color, key, made);
  return Result::in_progress;
}

Result ncclCommFinalize(Comm comm) {
  comm->questions = 1;
  comm->ends = true;
  return Result::in_progress;
}

Result ncclCommDestroy(Comm comm) { return stub::destroy(comm), Result::success; }

Result ncclCommAbort(Comm comm) { return stub::abort(comm), Result::success; }

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
