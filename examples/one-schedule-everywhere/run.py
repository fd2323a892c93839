"""Runs one schedule in every system that this machine has an environment for, and
compares the gradients of one training step.

    run.py [--pipec PROGRAM] [--torch PYTHON]... [--deepspeed PYTHON] [--d9d PYTHON]
           [--megatron PYTHON] [--jaxpp PYTHON] [--out FOLDER] [NAME=VALUE...]

PYTHON is the Python of an environment with the system (with JAX for --jaxpp, and
PIPEC_JAXPP is a source tree of JaxPP); the first --torch is also the PyTorch that C++
links. NAME=VALUE are parameters of everywhere.pipe. Prints a table,
and exits with status 0 only if all gradients and lists are equal. `./x everywhere`
makes the environments and calls this.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys

import problem

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCHEDULE = HERE / "everywhere.pipe"
# What sums in another order may differ by, in double and in single precision; the
# gradients are of the order of 0.1.
ROUNDING = 1e-14
SINGLE_ROUNDING = 1e-7


class Failed(Exception):
    """A command that failed; the message contains the end of its output."""


def run(*command, **environment) -> str:
    """Runs a command and returns its output."""
    command = [str(word) for word in command]
    print("$", shlex.join(command), flush=True)
    python = os.pathsep.join(filter(None, [str(ROOT / "python/src"), os.environ.get("PYTHONPATH")]))
    outcome = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False, timeout=200,
                             env={**os.environ, "PYTHONPATH": python, "PYTHONDONTWRITEBYTECODE": "1",
                                  "OMP_NUM_THREADS": "1", **environment})
    if outcome.returncode:
        raise Failed(f"status {outcome.returncode}\n" + "\n".join(outcome.stdout.splitlines()[-20:]))
    return outcome.stdout


def version(python: str, package: str) -> str:
    return run(python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))").strip().split("+")[0]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Demonstration:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.out = pathlib.Path(options.out).absolute()
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        sizes = dict(word.split("=", 1) for word in options.parameters)
        self.sizes = {"ranks": "4", "microbatches": "8", **sizes}
        self.words = [f"{name}={value}" for name, value in self.sizes.items()]
        self.problem = problem.make(int(self.sizes["ranks"]), int(self.sizes["microbatches"]))
        self.data = self.out / "problem.txt"
        problem.write(self.problem, self.data)
        self.expected = problem.gradients(self.problem)
        self.rows: list[tuple[str, str, str]] = []
        self.failed = False

    def compile(self, *arguments) -> str:
        return run(self.options.pipec, SCHEDULE, *self.words, *arguments)

    def row(self, system: str, ranks: str, work) -> None:
        """Adds the row of a system; `work` returns the result or raises."""
        print(f"\n== {system}", flush=True)
        try:
            result = work()
        except (Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
            print(error, flush=True)
            self.failed = True
            result = "FAILED: " + str(error).splitlines()[0]
        self.rows.append((system, ranks, result))

    def compare(self, folder: pathlib.Path, rounding: float = ROUNDING) -> str:
        """The verdict on the gradients in `folder`."""
        found = problem.read_gradients(folder, len(self.expected))
        if [len(numbers) for numbers in found] != [len(numbers) for numbers in self.expected]:
            raise ValueError("gradients are missing")
        largest = max(abs(a - b) for mine, theirs in zip(self.expected, found) for a, b in zip(mine, theirs))
        if not largest <= rounding:
            raise ValueError(f"gradients differ by {largest:.1e}")
        return f"gradients equal (largest difference {largest:.0e})"

    def folder(self, name: str) -> pathlib.Path:
        folder = self.out / name
        folder.mkdir()
        return folder

    def torch(self, python: str) -> None:
        def train(script):
            out = self.folder(f"{pathlib.Path(script).stem}-{number}")
            run(python, HERE / script, SCHEDULE, self.data, out, *self.words, PIPEC=self.options.pipec)
            return self.compare(out)

        number = version(python, "torch")
        self.row(f"PyTorch {number}, its runtime", "processes, gloo", lambda: train("train_torch.py"))
        self.row(f"PyTorch {number}, Python executor", "processes, gloo", lambda: train("train_executor.py"))

    def deepspeed(self, python: str) -> None:
        def work():
            out = self.folder("deepspeed")
            self.compile("--emit=deepspeed", "-o", out / "everywhere.json")
            run(python, HERE / "train_deepspeed.py", out / "everywhere.json", self.data, out,
                MASTER_PORT=str(free_port()))
            return self.compare(out, SINGLE_ROUNDING) + ", single precision"

        self.row(f"DeepSpeed {version(python, 'deepspeed')}", "processes, gloo", work)

    def jaxpp(self, python: str) -> None:
        def work():
            out = self.folder("jaxpp")
            self.compile("--emit=jaxpp", "-o", out / "everywhere.json")
            run(python, HERE / "train_jaxpp.py", out / "everywhere.json", self.data, out)
            return self.compare(out, SINGLE_ROUNDING) + ", single precision"

        self.row(f"JaxPP, JAX {version(python, 'jax')}", "one process", work)

    def executors(self) -> None:
        """The executor in C++: on threads, and with PyTorch in C++ over MPI."""
        build = self.out / "cpp"
        python = self.options.torch[0] if self.options.torch else ""

        def threads():
            self.compile("--emit=cpp", "-o", self.out / "everywhere.h")
            run("cmake", "-G", "Ninja", "-S", HERE, "-B", build, f"-DSCHEDULE={self.out / 'everywhere.h'}",
                f"-DPYTHON={python}")
            run("cmake", "--build", build)
            out = self.folder("threads")
            run(build / "threads", self.data, out)
            return self.compare(out)

        def mpi():
            if not (build / "libtorch-mpi").exists():
                raise ValueError("no MPI for C++, or its program was not built")
            out = self.folder("libtorch-mpi")
            root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
            run("mpirun", *root, "--oversubscribe", "-n", self.sizes["ranks"], build / "libtorch-mpi", self.data, out)
            return self.compare(out)

        self.row("C++ executor", "threads", threads)
        if python:
            self.row(f"C++ executor, libtorch {version(python, 'torch')}", "processes, MPI", mpi)

    def lists(self, system: str, package: str, python: str, script: str) -> None:
        """A system whose own list of steps is compared."""
        def work():
            return run(python, HERE / script, SCHEDULE, *self.words, PIPEC=self.options.pipec).strip().splitlines()[-1]

        self.row(f"{system} {version(python, package)}", "none: lists are compared", work)

    def report(self) -> int:
        widths = [max(len(row[i]) for row in self.rows) for i in range(2)]
        print(f"\n{SCHEDULE.name} with {' '.join(self.words)}:\n")
        for system, ranks, result in self.rows:
            print(f"{system:{widths[0]}}  {ranks:{widths[1]}}  {result}")
        return 1 if self.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs one schedule in every system and compares the gradients.")
    parser.add_argument("--pipec", default=shutil.which("pipec") or "pipec", help="the compiler")
    parser.add_argument("--torch", action="append", default=[], metavar="PYTHON")
    for name in "deepspeed", "d9d", "megatron", "jaxpp":
        parser.add_argument(f"--{name}", metavar="PYTHON")
    parser.add_argument("--out", default="everywhere", metavar="FOLDER", help="the folder for everything written; emptied")
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE")
    options = parser.parse_args()
    demonstration = Demonstration(options)
    for python in options.torch:
        demonstration.torch(python)
    if options.deepspeed:
        demonstration.deepspeed(options.deepspeed)
    if options.jaxpp:
        demonstration.jaxpp(options.jaxpp)
    demonstration.executors()
    if options.d9d:
        demonstration.lists("d9d", "d9d", options.d9d, "list_d9d.py")
    if options.megatron:
        demonstration.lists("Megatron-Core", "megatron-core", options.megatron, "list_megatron.py")
    return demonstration.report()


if __name__ == "__main__":
    sys.exit(main())
