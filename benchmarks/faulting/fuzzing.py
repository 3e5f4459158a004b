"""Broken files, requests and packs: does every parser of ours refuse or read them, exactly and in time?

    python benchmarks/faulting/fuzzing.py [--seconds 3600] [--jobs 1] [--seed 1] [--parser NAME]…
    python benchmarks/faulting/fuzzing.py --parser NAME --replay FILE

The seconds are shared out over the parsers of `parsers.py`; a NAME that is a family (`chunks`) means all of
it. Each parser runs in a process of its own, which its parent ends when one input takes too long; the input
is known then, also after a crash. An input at which a parser's own limits ended the process is parsed once
more as a command would, by a helper process, and is a finding if that fails. Where atheris is installed
inputs are led by coverage; else, or with `--plain`, they are mutations of the seeds and the same for the same
seed. Each finding is kept as a file (`--findings FOLDER`), the figures of a run of all parsers in
results/fuzzing.txt.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import mmap
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "satchel"
RESULTS = HERE.parent / "results" / "fuzzing.txt"
sys.path[:0] = [str(HERE.parent)]

MOST_BYTES = 20_000  # of an input; what is slow on more is found by the trials of long files
SLOW_SECONDS = 3.0  # of CPU time for one input; a usual one takes a few milliseconds
STALL_SECONDS = 30.0  # of CPU time for one input, after which a process is ended
_STANDSTILL_SECONDS = 600.0  # the same by the clock: a busy machine may give a process little for a while
_LOOK_SECONDS = 0.5
_NEVER = 86_400  # seconds of the clock for one input; the parent looks at the CPU time, and 0 means 1 here
_AT_LIMIT = f"exit {-signal.SIGPROF}:"  # how the limit of a parser's CPU time ends its process
_HEAD = 16  # bytes before the input in the shared page: how many inputs there were, how long this one is
_FAMILY = ":"
# Pieces that mean something to one of the parsers, or are hard to get by changing single bytes.
# fmt: off
_PIECES = (
    b"\r", b"\r\n", b"\x00", b"\t", b"\x0b", b"\x0c", b"\x1b[2J", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f\x92\xa1", b"e\xcc\x81", b"\xe2\x80\xae",
    b"\xe2\x80\x8b", b"\xff", b'"', b"'", b"`", b"```\n", b"~~~", b'"""', b"<!--", b"-->", b"/*", b"*/",
    b"//", b"#", b"---\n", b"...\n", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"\\", b"/", b":",
    b",", b";", b"=", b"*", b"**", b"?", b"|", b"0", b"-1", b"1e999", b"9" * 20, b"9" * 5000, b"NaN",
    b"null", b"true", b"\\u0000", b"\\ud800", b"%00", b"- ", b"> ", b"1. ", b"    ", b"\n\n", b"# ",
    b"===\n", b".. ", b"::\n", b"!", b"&a", b"*a", b"<<:", b"|\n", b"://a:b@c",
    b"-----BEGIN PRIVATE KEY-----\n", b"AKIA", b"ghp_", b"sk-", b"../", b"./", b"C:", b"chunk_",
    b'{"$ref": "#/items/a/data"}', b'"$default"', b"]]>", b"&amp;", b"<![CDATA[", b"@@ -1 +1 @@\n",
    b"diff --git ",
)
# fmt: on


class Finding(NamedTuple):
    """An input that broke a promise, and how."""

    parser: str
    what: str
    file: Path


# --- inputs ---


def mutations(seeds: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Yield the seeds, then endless changes of them, the same for the same number."""
    yield from seeds
    chance = random.Random(seed)
    while True:
        data = chance.choice(seeds)
        for _ in range(1 << chance.randrange(5)):
            data = chance.choice(_CHANGES)(data, seeds, chance)[:MOST_BYTES]
        yield data


def _span(data: bytes, chance: random.Random, most: int = 200) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.randrange(most))


def _cut(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _end(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flip(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _insert(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance, 8)
    piece = chance.choice(_PIECES) * chance.choice((1, 1, 1, 1, 2, 3, 50, 1000))
    return data[:start] + piece + data[start if chance.random() < 0.7 else end :]


def _again(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    place = chance.randrange(len(data) + 1)
    return data[:place] + data[start:end] * chance.choice((1, 1, 2, 20, 400)) + data[place:]


def _other(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(seeds)
    start, end = _span(other, chance, 600)
    place = chance.randrange(len(data) + 1)
    return data[:place] + other[start:end] + data[place:]


def _lines(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return chance.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")).join(lines)


_CHANGES: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    *(_cut, _end, _flip, _insert, _insert, _again, _other, _lines),
)


# --- the process that parses ---


class Trying:
    """One parser in this process; what it is about to parse is in a page that the parent reads."""

    def __init__(self, name: str, page: Path, findings: Path) -> None:
        from faulting.parsers import parsers  # after atheris has hooked itself into imports
        from satchel import chunking

        # This process parses itself, as the worker of a pool does: its parent sees what ends it. A second
        # thread keeps it from forking a helper, which stands still inside the fuzzer.
        chunking.prepare_worker()
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        self.name = name
        self.parser = parsers()[name]
        self._findings = findings
        self._count = 0
        with open(page, "r+b") as stream:
            self._page = mmap.mmap(stream.fileno(), 0)

    def one(self, data: bytes) -> None:
        """Parse one input; what it breaks is written down, and is no reason to stop."""
        data = bytes(data[:MOST_BYTES])
        self._count += 1
        self._page[: _HEAD + len(data)] = (
            self._count.to_bytes(8, "little") + len(data).to_bytes(8, "little") + data
        )
        what = failure(self.parser.check, data)
        if what:
            write_finding(self._findings, self.name, what, data)


def failure(check: Callable[[bytes], None], data: bytes) -> str:
    """Say how a check failed, and where; empty if it held or the input was refused as it should be."""
    from satchel.errors import Internal, SatchelError

    started = time.process_time()
    try:
        check(data)
    except SatchelError as error:
        if type(error) is Internal:
            return f"internal: {error.message}"
    except Exception as error:  # every exception is what is looked for
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if str(SOURCE) in frame.filename
        ]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "the check"
        message = str(error).partition("\n")[0][:200]
        return f"{type(error).__name__} at {place}: {message}"
    seconds = time.process_time() - started
    return f"slow: {seconds:.1f} s" if seconds > SLOW_SECONDS else ""


def write_finding(findings: Path, parser: str, what: str, data: bytes) -> None:
    """Keep an input under a name made of what it broke; of several the shortest."""
    kind = what if "the check" in what else what.partition(": ")[0]
    name = hashlib.sha256(f"{parser}\0{kind}".encode()).hexdigest()[:12]
    folder = findings / parser.replace(_FAMILY, "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.input"
    if not file.exists() or len(data) < file.stat().st_size:
        file.write_bytes(data)
        file.with_suffix(".txt").write_text(what + "\n")


def work(name: str, page: Path, findings: Path, seconds: float, seed: int, *, plain: bool) -> None:
    """Try inputs until the seconds are over."""
    if not plain:
        import atheris

        with atheris.instrument_imports(include=["satchel"], enable_loader_override=False):
            trying = Trying(name, page, findings)
        _led_by_coverage(trying, seconds, seed)
        return
    trying = Trying(name, page, findings)
    end = time.monotonic() + seconds
    for data in mutations(trying.parser.seeds(), seed):
        if time.monotonic() > end:
            break
        trying.one(data)


def _led_by_coverage(trying: Trying, seconds: float, seed: int) -> None:
    import atheris

    with tempfile.TemporaryDirectory(prefix="satchel-corpus-") as corpus:
        for number, data in enumerate(trying.parser.seeds()):
            Path(corpus, str(number)).write_bytes(data[:MOST_BYTES])
        flags = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed}", f"-max_len={MOST_BYTES}"]
        atheris.Setup(
            ["fuzzing", *flags, "-rss_limit_mb=0", f"-timeout={_NEVER}", "-verbosity=0", corpus], trying.one
        )
        atheris.Fuzz()


# --- the process that watches ---


def run_parser(name: str, seconds: float, seed: int, findings: Path, *, plain: bool) -> int:
    """Let a process try inputs for some seconds; one that crashes or stalls is a finding, and is followed by
    another. Return how many inputs there were."""
    inputs = 0
    end = time.monotonic() + seconds
    turn = 0
    with tempfile.TemporaryDirectory(prefix="satchel-fuzz-") as folder:
        while turn == 0 or time.monotonic() < end:
            page = Path(folder, "page")
            page.write_bytes(bytes(_HEAD + MOST_BYTES))
            left = max(end - time.monotonic(), 0.1)
            count, broken, data = _watch(name, page, findings, left, seed + 1000 * turn, plain=plain)
            inputs += count
            turn += 1
            if not broken:
                break
            if not (broken.startswith(_AT_LIMIT) and _holds_in_helper(name, data, Path(folder))):
                write_finding(findings, name, broken, data)
    return inputs


def _watch(
    name: str, page: Path, findings: Path, seconds: float, seed: int, *, plain: bool
) -> tuple[int, str, bytes]:
    """One process from its start to its end: how many inputs, how it broke, on what."""
    words = ["--page", page, "--parser", name, "--findings", findings, "--seconds", seconds, "--seed", seed]
    command = [sys.executable, __file__, *map(str, words), *(["--plain"] if plain else [])]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, cwd=page.parent)
        count, since, spent, broken = 0, time.monotonic(), 0.0, ""
        while process.poll() is None and not broken:
            time.sleep(_LOOK_SECONDS)
            now, _ = _current(page)
            used = _cpu_seconds(process.pid)
            if now != count:
                count, since, spent = now, time.monotonic(), used
            elif used - spent > STALL_SECONDS or time.monotonic() - since > _STANDSTILL_SECONDS:
                broken = f"stalls after {used - spent:.0f} s of CPU"
                process.kill()
        code = process.wait()
        count, data = _current(page)
        if code and not broken:
            said.seek(0)
            broken = f"exit {code}: {said.read()[-300:].decode(errors='replace').strip()}"
    return count, broken, data


def _cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far; 0 if it has ended."""
    with suppress(psutil.Error):
        user, system, *_ = psutil.Process(process).cpu_times()
        return user + system
    return 0.0


def _holds_in_helper(name: str, data: bytes, folder: Path) -> bool:
    """Return whether a command, which asks a helper to parse, does with an input what it promises."""
    (file := folder / "input").write_bytes(data)
    command = [sys.executable, __file__, "--parser", name, "--replay", str(file)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def _current(page: Path) -> tuple[int, bytes]:
    held = page.read_bytes()
    length = int.from_bytes(held[8:_HEAD], "little")
    return int.from_bytes(held[:8], "little"), held[_HEAD : _HEAD + length]


def chosen(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The parsers that are meant by their names or by that of their family."""
    found = [name for name in names if not wanted or name in wanted or name.split(_FAMILY)[0] in wanted]
    if not found:
        raise SystemExit(f"no parser {wanted}; there are {', '.join(names)}")
    return found


def run(
    names: Sequence[str],
    seconds: float,
    seed: int,
    findings: Path,
    tell: Callable[[str], None],
    *,
    plain: bool,
    jobs: int,
) -> tuple[dict[str, int], list[str]]:
    """Share the seconds out over the parsers; return how many inputs each had, and a sentence for each
    finding in the folder."""

    def one(at: int, name: str) -> int:
        inputs = run_parser(name, seconds / len(names), seed + at, findings, plain=plain)
        tell(f"{name}: {inputs} inputs, {len(list(_found(findings, name)))} findings")
        return inputs

    with ThreadPoolExecutor(jobs) as threads:
        inputs = dict(zip(names, threads.map(one, range(len(names)), names), strict=True))
    return inputs, [sentence for name in names for sentence in _found(findings, name)]


def report(inputs: dict[str, int], wrong: Sequence[str], seconds: float, led: str) -> str:
    """Return the figures as text: how many inputs each parser had, and how many findings there are."""
    lines = [
        f"{len(inputs)} parsers, {sum(inputs.values())} inputs ({led}) in {seconds:.0f} s, "
        f"{seconds / len(inputs):.0f} s each; findings: {len(wrong)}",
        "",
        *(f"{name:32}{count:>10} inputs" for name, count in inputs.items()),
    ]
    return "\n".join(lines) + "\n"


def _found(findings: Path, name: str) -> Iterator[str]:
    for file in sorted((findings / name.replace(_FAMILY, "-").replace(" ", "-")).glob("*.txt")):
        yield f"{name}: {file.read_text().strip()} ({file.with_suffix('.input')})"


def main() -> int:
    """Run the parsers, or one again on a kept input, and print what was found."""
    options = _options()
    if options.page is not None:
        (name,) = options.parser
        work(name, options.page, options.findings, options.seconds, options.seed, plain=options.plain)
        return 0
    from faulting.parsers import parsers

    names = chosen(list(parsers()), options.parser)
    if options.replay is not None:
        what = failure(parsers()[names[0]].check, options.replay.read_bytes())
        print(what or "holds")
        return bool(what)
    plain = options.plain or importlib.util.find_spec("atheris") is None
    led = "mutations of the seeds" if plain else "led by coverage"
    print(led, flush=True)
    inputs, wrong = run(
        names, options.seconds, options.seed, options.findings, tell_at_once, plain=plain, jobs=options.jobs
    )
    text = report(inputs, wrong, options.seconds, led)
    print(text, *wrong, sep="\n")
    if not options.parser:
        RESULTS.write_text(text)
    return bool(wrong)


def tell_at_once(text: str) -> None:
    """Print a line at once: a run of an hour is read while it runs."""
    print(text, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="parsers that are tried at once")
    parser.add_argument("--parser", action="append", default=[], metavar="NAME")
    parser.add_argument(
        "--plain", action="store_true", help="mutations of the seeds, also where atheris is there"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="an input that was kept")
    parser.add_argument(
        "--findings", type=Path, default=Path(tempfile.gettempdir(), "satchel-findings"), metavar="FOLDER"
    )
    parser.add_argument("--page", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
