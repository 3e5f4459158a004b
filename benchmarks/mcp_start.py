"""CPU seconds from the start of `satchel serve mcp` to its reply to `initialize`, and the size of its tools.

    python benchmarks/mcp_start.py [ROOT] [--runs 5]

Byte-compiled: a run before the first measured one writes what Python keeps of each module.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

RESULTS = Path(__file__).parent / "results" / "mcp_start.txt"
_CLOCK = os.sysconf("SC_CLK_TCK")
_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def cpu_seconds(process: int) -> float:
    """User and system time of a process, from the kernel."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK


def start(root: Path, compiled: str) -> tuple[float, float, int]:
    """CPU and wall seconds to the first reply, and the bytes of the list of tools. `compiled` is where the
    byte code is kept."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "satchel", "serve", "mcp", "--no-watch", "--segment", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**kept, "PYTHONPYCACHEPREFIX": compiled},
    )
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(_message("initialize", _INITIALIZE, 1))
    server.stdin.flush()
    server.stdout.readline()
    cpu, wall = cpu_seconds(server.pid), time.perf_counter() - began
    server.stdin.write(_message("notifications/initialized") + _message("tools/list", {}, 2))
    server.stdin.flush()
    size = len(server.stdout.readline())
    server.stdin.close()
    server.wait(10)
    return cpu, wall, size


def _message(method: str, params: Mapping[str, object] | None = None, number: int | None = None) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    message |= {"params": params} if params is not None else {}
    message |= {"id": number} if number is not None else {}
    return json.dumps(message).encode() + b"\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path("."))
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with TemporaryDirectory() as compiled:
        start(arguments.root, compiled)
        runs = [start(arguments.root, compiled) for _ in range(arguments.runs)]
    cpu = [run[0] for run in runs]
    told = (
        f"initialize  {statistics.median(cpu):.2f} CPU s (least {min(cpu):.2f}, most {max(cpu):.2f})\n"
        f"            {statistics.median(run[1] for run in runs):.2f} s by the clock\n"
        f"tools/list  {runs[0][2]} bytes\n"
    )
    print(told, end="")
    RESULTS.write_text(told)


if __name__ == "__main__":
    main()
