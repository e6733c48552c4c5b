"""What gpu_check.py does, in order: each stage a command with a time limit.

The limits of all stages that one GPU needs add up to less than the whole check may take, so that none keeps another
from its turn. A proof must come to its end within its limit.
"""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import gpu_limits

HERE = Path(__file__).resolve().parent
PATIENCE = "4"  # [s] of any wait, less than any stage's limit: who hangs says so itself
OF_STARTING = ("--timeout", "15")  # where processes and NCCL get ready, too
ONCE = ["-n", "1", "-w", "0", "--time-budget", "0.001"]
BOTH = ["--placement", "in_place,out_of_place"]
APART = ["--placement", "out_of_place"]


def of_both_protocols(*names):
    """Without a word the size chooses."""
    return [f"{name}/{protocol}" for name in names for protocol in ("simple", "LL")]


# Every algorithm of each collective, and every kernel that one has.
PROVED = {
    "all_reduce": [
        *of_both_protocols("ring", "binomial_tree", "pipelined_tree", "double_binary_tree", "one_shot", "two_shot"),
        "parameter_server", "parameter_server/links", "parameter_server/LL", "parameter_server_dedicated",
        "sharded_parameter_server", "recursive_doubling", "rabenseifner", "circulant", "hierarchical_ring", "swing",
        "ring_interpreted", "ring/graph",
    ],
    "reduce_scatter": [*of_both_protocols("ring"), "direct", "recursive_halving"],
    "all_gather": [*of_both_protocols("ring"), "direct", "recursive_doubling"],
    "broadcast": of_both_protocols("binomial", "chain", "star"),
    "reduce": of_both_protocols("binomial", "chain", "star"),
    "all_to_all": ["pairwise"],
    "barrier": ["dissemination"],
}  # fmt: skip
# A kernel of each kind, and each way that a kernel can go: of them every dtype, operator and alignment.
WAYS = ",".join([
    *of_both_protocols("ring", "double_binary_tree", "one_shot", "two_shot"),
    "ring_interpreted", "parameter_server", "parameter_server/links", "parameter_server/LL",
])  # fmt: skip
CLAIMED = [*gpu_limits.LEAST, gpu_limits.INTERPRETED]


@dataclass(frozen=True)
class Stage:
    name: str
    limit: int  # [s]
    command: list[str]
    shows: str
    code: int = 0  # that it ends in
    says: str = ""  # what must stand in its output
    never: str = ""  # what must not
    environment: dict[str, str] = field(default_factory=dict)
    absent: str = ""  # why it cannot run here
    proves: bool = False  # nothing may be missing of it
    may_not_fit: bool = False  # a device may hold too few of its blocks: then the stage is not run, and has not failed


@dataclass(frozen=True)
class Cases:
    """How much of everything."""

    kernels: str = ",".join(PROVED["all_reduce"])
    ways: str = WAYS
    ranks: str = "1:8"
    many: str = "8"
    sizes: str = "4,4100,96K,1M,5M"
    dtypes: str = "f32,f64,f16,bf16,i32,i64,u8"
    operators: str = "sum,prod,min,max,avg"
    typed: str = "8"  # ranks
    shifted: tuple[str, str] = ("2,5,8", "f32,f16,u8")  # ranks and dtypes whose buffers are misaligned
    odd: str = "4101,4104"  # [bytes]: an odd number of elements of every dtype
    timed: str = "8:1G:x8"
    copied: str = "512M"  # as much as the claimed cases read: no cache holds it
    claimed_size: int = gpu_limits.SIZE
    claimed_ranks: int = gpu_limits.RANKS
    compared: tuple[str, ...] = ("--ranks", "1:8")
    threads: int = 512  # of a block, at most
    launches: str = "3"
    timing: tuple[str, ...] = ("--time-budget", "0.2")  # [s]
    quickly: tuple[str, ...] = ("--time-budget", "0.05")
    least: str = "0.2"  # [s] of a micro-benchmark
    step: tuple[str, ...] = ("resnet50", "ddp,per_tensor,horovod,byteps", "1M:64M:x4")
    packing: str = "gpu_"
    calls: str = "nccl_one_rank"
    more: tuple[str, ...] = ()  # to every sweep and step of ours
    devices: dict[str, str] = field(default_factory=dict)  # environment of what wants several GPUs


def on_the_stub(gradients):
    """Each thread of a kernel is a fiber there: few of them, few and small cases."""
    return Cases(
        kernels="ring,ring/simple,ring_interpreted,ring/graph,one_shot/LL,parameter_server/links",
        ways="ring/simple,ring/LL,ring_interpreted,two_shot/LL", ranks="2:3", many="3", sizes="60",
        dtypes="f32,bf16", operators="avg", typed="3", shifted=("3", "u8"), odd="44", timed="1K", copied="64K",
        claimed_size=1024, claimed_ranks=3,
        compared=("ring/simple", "ring/LL", "two_shot/simple", "--ranks", "3", "--size", "1K", "--op", "sum", "--dtype",
                  "f32"),
        threads=32, quickly=("-n", "2", "-w", "1"), launches="2", timing=("-n", "6", "-w", "1"), least="0.001",
        step=(str(gradients), "ddp,per_tensor", "2K"), packing="gpu_pack/dlrm.*/bf16", calls="nccl_one_rank/8/",
        more=("--threads", "4", "--channels", "2"), devices={"COLLMARK_STUB_DEVICES": "2"},
    )  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where it runs, and where to."""

    program: Path
    out: Path
    gpus: int
    multiprocessors: int = 132  # of one
    apart: str = ""  # why there are no processes with a GPU each
    sanitizer: str | None = field(default_factory=lambda: shutil.which("compute-sanitizer"))

    def sweep(self, name, *flags):
        patience = [] if "--timeout" in flags else ["--timeout", PATIENCE]
        return [str(self.program), "sweep", *flags, *patience, "--csv", str(self.out / f"{name}.csv")]


def tunings(multiprocessors, threads, ranks):
    """How kernels are launched where they are judged; the best of these counts. Without a word; and in more and smaller
    blocks, which make as many threads as one whole block on each multiprocessor: our kernels leave registers for no
    second one (cubin.py)."""
    yield ()
    for parts in (2, 4):
        channels = max(1, parts * multiprocessors // ranks)
        yield ("--threads", str(threads // parts), "--channels", str(channels))


def stages(place, cases):
    return [*proofs(place, cases), *measurements(place, cases), *of_several(place, cases)]


def proofs(place, cases):
    """Every result compared bit for bit, on the device."""

    def ours(name, *flags):
        return place.sweep(name, "--backend", "cuda", *cases.more, *flags)

    yield Stage(
        "reference", 100, [str(place.program), "verify", "--backend", "cuda", "--timeout", PATIENCE, *cases.compared],
        "every kernel, dtype, operator, placement and number of ranks against the reference, bit for bit",
        says=", 0 differ;", proves=True,
    )  # fmt: skip
    yield Stage(
        "algorithms", 66, ours("algorithms", "--algorithm", cases.kernels, "--ranks", cases.ranks,
                               "--sizes", cases.sizes, *BOTH, *ONCE),
        "every all-reduce, ranks, sizes, placements: exact f32 sums, and bytes", proves=True,
    )  # fmt: skip
    yield Stage(
        "types", 34, ours("types", "--algorithm", cases.ways, "--ranks", cases.typed, "--sizes", cases.odd,
                          "--dtype", cases.dtypes, "--op", cases.operators, *BOTH, *ONCE),
        "every dtype and operator, odd counts: exact results, and bytes", proves=True,
    )  # fmt: skip
    for shift in ("1", "3"):
        name = f"misaligned_{shift}"
        yield Stage(
            name, 15, ours(name, "--misaligned", shift, "--algorithm", cases.ways, "--ranks", cases.shifted[0],
                           "--sizes", f"60,{cases.odd}", "--dtype", cases.shifted[1], *BOTH, *ONCE),
            f"inputs that miss a multiple of 16 bytes by {shift} elements, outputs by one more", proves=True,
        )  # fmt: skip
    for collective, names in PROVED.items():
        if collective == "all_reduce":  # above
            continue
        where = APART if collective == "all_to_all" else BOTH
        yield Stage(
            collective, 7, ours(collective, "--collective", collective, "--algorithm", ",".join(names),
                                "--ranks", cases.ranks, "--sizes", cases.odd, *where, *ONCE),
            "every algorithm of it, ranks, placements: exact results, and bytes", proves=True,
        )  # fmt: skip
    memory = [
        place.sanitizer or "compute-sanitizer",
        "--error-exitcode",
        "5",
        "--log-file",
        str(place.out / "errors.txt"),
    ]
    small = ("--algorithm", cases.ways, "--ranks", "4", "--sizes", "4100", *ONCE)
    yield Stage(
        "memcheck", 30, [*memory, *ours("memcheck", *small)],
        "no access beside an allocation, by compute-sanitizer", proves=True,
        absent="" if place.sanitizer else "no compute-sanitizer on PATH",
    )  # fmt: skip
    yield Stage(
        "missing_rank", 15, ours("missing_rank", "--algorithm", "ring/simple", "--ranks", "4", "--sizes", "4K",
                                 "--timeout", "1", *ONCE),
        "a rank that never comes ends the others' waits, and they name it",
        code=7, says="waited for rank 0", environment={"COLLMARK_TEST_ABSENT_RANK": "0"},
    )  # fmt: skip


def measurements(place, cases):
    def ours(name, *flags):
        return place.sweep(name, "--backend", "cuda", *cases.more, *flags)

    def copy(name):
        command = [str(place.program), "links", "--backend", "cuda", "--size", cases.copied, "--timeout", PATIENCE]
        return Stage(
            name, 10, [*command, "--csv", str(place.out / f"{name}.csv")],
            "a copy within the GPU; hops between blocks by flag, by line and by word; an empty kernel",
        )  # fmt: skip

    yield copy("copy_before")
    for i, tuning in enumerate(tunings(place.multiprocessors, cases.threads, cases.claimed_ranks)):
        name = f"claims_{i}"
        yield Stage(
            name, 20, place.sweep(
                name, "--backend", "cuda", *tuning, "--algorithm", ",".join(CLAIMED),
                "--ranks", str(cases.claimed_ranks), "--sizes", str(cases.claimed_size), *APART,
                "--launches", cases.launches, *cases.timing),
            f"what is claimed of our kernels, {' '.join(tuning) or 'as they are launched without a word'}",
            may_not_fit=True,
        )  # fmt: skip
    yield copy("copy_after")
    micro = place.program.parent / "collmark_micro"
    no_micro = "" if micro.exists() else f"no {micro}"
    least = f"--benchmark_min_time={cases.least}"
    yield Stage(
        "nccl_call", 15, [str(micro), f"--benchmark_filter={cases.calls}", least],
        "an NCCL all-reduce of one rank: the call, and its copy", never="ERROR OCCURRED", absent=no_micro,
    )  # fmt: skip
    timed = f"{cases.ways},ring/graph"
    yield Stage(
        "times", 30, ours("times", "--algorithm", timed, "--ranks", f"2,{cases.many}", "--sizes", cases.timed, *APART,
                          *cases.quickly),
        "times by size",
    )  # fmt: skip
    model, policies, caps = cases.step
    yield Stage(
        "step", 25, [str(place.program), "step", "--backend", "cuda", *cases.more, "--model", model, "--bucket-policy",
                     policies, "--bucket-bytes", caps, "--ranks", cases.many, "--algorithm", "ring,two_shot",
                     *cases.timing, "--timeout", PATIENCE, "--csv", str(place.out / "step.csv")],
        "training steps: packing, all-reduces, unpacking",
    )  # fmt: skip
    yield Stage(
        "packing", 12, [str(micro), f"--benchmark_filter={cases.packing}", least],
        "packing alone, beside a copy", never="ERROR OCCURRED", absent=no_micro,
    )  # fmt: skip


def of_several(place, cases):
    """With a rank on each GPU."""
    one = (
        "" if place.gpus > 1 else "one GPU: no link between GPUs is measured, nor NCCL, which wants a GPU for each rank"
    )
    apart = ("--ranks", str(place.gpus), "--sizes", cases.timed, *APART, *cases.timing)
    yield Stage(
        "links", 25, place.sweep("links", "--backend", "cuda", *cases.more, "--algorithm",
                                 "ring,ring/graph,double_binary_tree,two_shot", *apart),
        "our kernels, a rank on each GPU", environment=cases.devices, absent=one,
    )  # fmt: skip
    yield Stage(
        "nccl", 25, place.sweep("nccl", "--backend", "nccl", "--allow-missing", "--algorithm",
                                "library,library:ring,library:tree,library/graph,library/registered", *apart,
                                *OF_STARTING),
        "NCCL beside them", environment=cases.devices, absent=one,
    )  # fmt: skip
    yield Stage(
        "processes", 25, place.sweep("processes", "--backend", "cuda", *cases.more, "--processes", "--algorithm",
                                     cases.ways, "--ranks", f"2,{place.gpus}", "--sizes", cases.sizes, *BOTH, *ONCE,
                                     *OF_STARTING),
        "a process for each GPU", environment=cases.devices, absent=one or place.apart,
    )  # fmt: skip
    yield Stage(
        "nccl_processes", 25, place.sweep("nccl_processes", "--backend", "nccl", "--allow-missing", "--processes",
                                          "--algorithm", "library,library/graph,library/registered", *apart,
                                          *OF_STARTING),
        "NCCL with a process for each GPU", environment=cases.devices, absent=one or place.apart,
    )  # fmt: skip


def static(place):
    """What can be known of the code for GPUs without one."""
    image = place.program.parent / "kernels/kernels.fatbin"
    yield Stage(
        "machine_code", 60, [sys.executable, "-B", str(HERE / "cubin.py"), "--check", str(image)],
        "what nvcc has made of the kernels",
        absent="" if image.exists() else f"packed or built without nvcc: no {image}",
    )  # fmt: skip


def packed(place):
    package = place.out / "collmark-gpu-check.tar.gz"
    return Stage(
        "package", 120, [sys.executable, "-B", str(HERE / "gpu_package.py"), "--program", str(place.program),
                         str(package)],
        f"what a machine with a GPU needs: {package.name}, with a list of its files",
        absent="" if (HERE / "gpu_package.py").exists() else "this is the packed form",
    )  # fmt: skip
