"""Two hosts on one machine: namespaces with a network, a host name, memory to
share and a file of host names of their own, joined by a cable (veth).

    hosts.py mpi MPIRUN... -- PROGRAM ...   MPIRUN on the first host, a rank on each
    hosts.py each PROGRAM ...               PROGRAM on both, with RANK, WORLD_SIZE,
                                            MASTER_ADDR and MASTER_PORT as torchrun
                                            sets them

MPI starts its processes on the other host through a launch agent, which takes
the place of ssh. Exits with the status of the program, of the first one that
fails for `each`; prints `skipped: ...` and exits with 77 where namespaces are
not allowed. First may come `--seconds N`: what takes longer is an error; and `--fails`:
a program that succeeds is one, too.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time

NAMES = ("pipec-host-a", "pipec-host-b")
ADDRESSES = ("10.213.77.1", "10.213.77.2")
# A host holds its namespaces as long as its standard input is open.
HOLD = """
set -e
mount --make-rprivate /
mount -t tmpfs none /dev/shm
mount --bind "$2" /etc/hosts
hostname "$1"
ip link set lo up
echo ready
exec cat > /dev/null
"""


class NotAllowed(Exception):
    pass


def must(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise NotAllowed(f"`{shlex.join(command)}`: {done.stdout.strip()}")


class Hosts:
    def __init__(self, folder):
        self.folder = folder
        self.agent = os.path.join(folder, "agent")
        self.held = []

    def start(self):
        folder = self.folder
        names = os.path.join(folder, "hosts")
        with open(names, "w") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines(f"{address} {name}\n" for address, name in zip(ADDRESSES, NAMES))
        for name in NAMES:
            held = subprocess.Popen(
                ["unshare", "-n", "-u", "-i", "-m", "sh", "-c", HOLD, "sh", name, names],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.held.append(held)
            if held.stdout.readline() != "ready\n":
                held.stdin.close()
                raise NotAllowed("".join(held.stderr.read().strip().splitlines()[-1:]))
        first, second = (str(held.pid) for held in self.held)
        must("ip", "link", "add", "cable", "netns", first, "type", "veth",
             "peer", "name", "cable", "netns", second)
        for pid, address in zip((first, second), ADDRESSES):
            must("nsenter", "-t", pid, "-n", "ip", "address", "add", address + "/24", "dev", "cable")
            must("nsenter", "-t", pid, "-n", "ip", "link", "set", "cable", "up")
        with open(self.agent, "w") as file:
            cases = "".join(f"{name}|{address}) pid={held.pid};;\n" for name, address, held
                            in zip(NAMES, ADDRESSES, self.held))
            file.write(f'#!/bin/sh\ncase "$1" in\n{cases}*) exit 1;;\nesac\nshift\n'
                       'exec nsenter -t $pid -n -u -i -m sh -c "$*"\n')
        os.chmod(self.agent, 0o755)

    def command(self, host, command):
        here = ["sh", "-c", 'cd "$0" && exec "$@"', os.getcwd()]
        return ["nsenter", "-t", str(self.held[host].pid), "-n", "-u", "-i", "-m", *here, *command]

    def close(self):
        for held in self.held:
            held.stdin.close()
            held.wait()


def run(hosts, mode, arguments, deadline):
    if mode == "mpi":
        split = arguments.index("--")
        mpirun = [*arguments[:split], "--mca", "plm_rsh_agent", hosts.agent,
                  "-host", ",".join(NAMES), "-n", "2", *arguments[split + 1:]]
        started = [subprocess.Popen(hosts.command(0, mpirun))]
    else:
        started = []
        for rank in range(2):
            env = {**os.environ, "RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": "2",
                   "MASTER_ADDR": NAMES[0], "MASTER_PORT": "29631", "GLOO_SOCKET_IFNAME": "cable"}
            started.append(subprocess.Popen(hosts.command(rank, arguments), env=env))
    status = 0
    for process in started:
        try:
            process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            print("error: a process has not ended in time", flush=True)
            for other in started:
                other.kill()
                other.wait()
            return 3
        status = status or process.returncode
    return 1 if status else 0


def main():
    arguments = sys.argv[1:]
    seconds, fails = 200, False
    while arguments[0].startswith("--"):
        if arguments[0] == "--seconds":
            seconds, arguments = int(arguments[1]), arguments[2:]
        else:
            fails, arguments = True, arguments[1:]
    with tempfile.TemporaryDirectory() as folder:
        hosts = Hosts(folder)
        try:
            hosts.start()
            status = run(hosts, arguments[0], arguments[1:], time.monotonic() + seconds)
            return status != 1 if fails else status
        except (NotAllowed, OSError) as error:
            print(f"skipped: no namespaces here: {error}")
            return 77
        finally:
            hosts.close()


if __name__ == "__main__":
    sys.exit(main())
