"""How long does a newcomer wait for the first answer, and what does that look like?

    pip install pyte
    python benchmarks/first_answer.py --repository CLONE [--picture FILE.svg] [--out FILE]

Runs the commands of README in a terminal of 100 columns: an installation into an empty environment, with
nothing in pip's cache, then the first question in a copy of CLONE that has no index. What the terminal shows
at the end becomes the picture (`docs/pictures/first-answer.svg`), with the seconds that each command took on
this machine; `results/first_answer.txt` keeps those seconds and the CPU beside them.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
COLUMNS, LINES = 100, 300
QUESTION = 'satchel search "how is the session cookie signed" -k 2'
LEFT, TOP, LINE, CHARACTER = 16, 44, 18, 7.83  # of the picture, in pixels
COLORS = {
    "default": "#e7e4de",
    "black": "#6e6a63",
    "red": "#f0958c",
    "green": "#98cc9f",
    "brown": "#e0b06b",
    "yellow": "#e0b06b",
    "blue": "#8db8f0",
    "magenta": "#c99be6",
    "cyan": "#7fc9d6",
    "white": "#e7e4de",
    "brightblack": "#96918a",
}


class Command:
    """A command as it ran in a terminal: its lines, seconds, and CPU seconds of it and its children."""

    def __init__(self, words: str, folder: Path, environment: dict[str, str]) -> None:
        self.words = words
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        self.screen = _run(words, folder, environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = time.perf_counter() - start
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(words: str, folder: Path, environment: dict[str, str]) -> Any:
    """Run a command in a pseudo-terminal and return what an emulator shows at the end."""
    import pyte

    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", words], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    while True:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # the last writer is gone
            break
        if not data:
            break
        # pyte knows no dim text; Satchel dims comments.
        stream.feed(data.replace(b"\x1b[2m", b"\x1b[90m"))
    os.close(ours)
    if process.wait():
        raise SystemExit("\n".join(screen.display).rstrip() or f"failed: {words}")
    return screen


def record(repository: Path, work: Path) -> list[Command]:
    """Install and ask, in a folder that is empty, and return both commands."""
    subprocess.run([sys.executable, "-m", "venv", str(work / "env")], check=True)
    project = work / repository.resolve().name
    shutil.copytree(repository, project, ignore=shutil.ignore_patterns("_ctx"))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SATCHEL", "PYTHON"))},
        "PATH": f"{work / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(work),
        "TERM": "xterm-256color",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    install = Command('pip install --quiet ".[serve]"', HERE, environment)
    return [install, Command(QUESTION, project, environment)]


def draw(commands: list[Command], project: str, files: int) -> str:
    """Return the terminal as a picture: text in an SVG file, without a script or anything it would load."""
    rows: list[str] = []
    for number, command in enumerate(commands):
        if number == 1:
            rows.append(_spans([("$ ", "#a39f97", False), (f"cd ../{project}", COLORS["default"], True)]))
        rows.append(_spans([("$ ", "#a39f97", False), (command.words, COLORS["default"], True)]))
        rows += _screen_rows(command.screen)
        rows.append(_spans([(f"# {command.seconds:.1f} seconds", "#96918a", False)]))
    total = sum(command.seconds for command in commands)
    rows.append(
        _spans([(f"# {files} files, from nothing to an answer: {total:.0f} seconds", "#e0a566", False)])
    )
    width, height = round(2 * LEFT + COLUMNS * CHARACTER), TOP + LINE * len(rows) + 10
    lines = [
        f'<text x="{LEFT}" y="{TOP + LINE * at}" xml:space="preserve">{row}</text>'
        for at, row in enumerate(rows)
    ]
    dots = [
        f'<circle cx="{20 + 18 * at}" cy="18" r="5.5" fill="{color}"/>'
        for at, color in enumerate(("#c8493f", "#d39c2f", "#4f9d69"))
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img" font-size="13"'
            f' aria-label="Satchel is installed and answers the first question after {total:.0f} seconds"'
            " font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">",
            f'<rect width="{width}" height="{height}" rx="9" fill="#17181b"/>',
            *dots,
            *lines,
            "</svg>\n",
        )
    )


def _screen_rows(screen: Any) -> list[str]:
    """Return the lines of a terminal up to the last that has text."""
    rows = []
    for at in range(LINES):
        cells = [screen.buffer[at][column] for column in range(COLUMNS)]
        spans: list[tuple[str, str, bool]] = []
        for cell in cells:
            color = COLORS.get(cell.fg, f"#{cell.fg}" if len(cell.fg) == 6 else COLORS["default"])
            if spans and spans[-1][1:] == (color, cell.bold):
                spans[-1] = (spans[-1][0] + cell.data, color, cell.bold)
            else:
                spans.append((cell.data, color, cell.bold))
        rows.append(_spans(spans))
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _spans(spans: list[tuple[str, str, bool]]) -> str:
    """Return pieces of a line, each with its colour; nothing for a line without text."""
    if spans and not "".join(text for text, _, _ in spans).strip():
        return ""
    spans = [*spans[:-1], (spans[-1][0].rstrip(), *spans[-1][1:])] if spans else []
    weights = {True: ' font-weight="700"', False: ""}
    return "".join(
        f'<tspan fill="{color}"{weights[bold]}>{escape(text)}</tspan>' for text, color, bold in spans if text
    )


def main() -> None:
    """Record, draw and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, required=True, help="a clone of about 200 files")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    listed = subprocess.run(
        ["git", "ls-files"], cwd=options.repository, capture_output=True, text=True, check=True
    )
    files, name = len(listed.stdout.splitlines()), options.repository.resolve().name
    with tempfile.TemporaryDirectory() as folder:
        commands = record(options.repository, Path(folder))
    if options.picture:
        options.picture.write_text(draw(commands, name, files), encoding="utf-8")
    told = [f"From nothing to the first answer; {name}, {files} files.", ""]
    told += [f"{one.seconds:6.1f} s waited {one.cpu:6.1f} s CPU   {one.words}" for one in commands]
    shown = "\n".join(told) + "\n"
    if options.out:
        options.out.write_text(shown, encoding="utf-8")
    print(shown, end="")


if __name__ == "__main__":
    main()
