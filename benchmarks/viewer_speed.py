"""What does each page of the viewer cost the server, as the first page that it shows and again?

    python benchmarks/viewer_speed.py [--linux] [--folder FOLDER] [--index INDEX]

On Django or the Linux tree (see corpora.py), in CPU seconds of the server process (user and system), with
the index built before. Each first figure is of a server that was started for this page alone, after it was
asked for the empty page Pack, which needs no index. The figures are kept in results/viewer_speed.txt and
results/viewer_speed_linux.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpora import CORPORA, default_cache, get

RESULTS = Path(__file__).parent / "results" / "viewer_speed.txt"
ASKED = {  # of each corpus: a question, a long file, and a name that it defines
    "django": ("where+are+sessions+stored", "django/db/models/query.py", "QuerySet"),
    "linux": ("how+is+a+process+forked", "kernel/fork.c", "copy_process"),
}


def pages(corpus: str) -> list[str]:
    """The addresses of all pages."""
    question, file, name = ASKED[corpus]
    return [
        "/",
        "/?central=1",
        f"/?q={question}",
        f"/pack?q={question}",
        f"/pack?q={question}&left=1",
        "/code/",
        f"/code/{file}",
        f"/code/{file}?name={name}",
        "/map",
        "/map?color=used_by",
        f"/map?name={name}",
        "/quality",
        "/status",
    ]


class ViewerProcess:
    """A viewer that was started, and a browser that is signed in to it."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self._process = process
        self._base = address.partition("/login")[0]
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self._browser.addheaders = [("accept", "text/html")]
        self._browser.open(
            f"{self._base}{address.removeprefix(self._base).partition('&')[0]}&next=/pack"
        ).read()

    def cost(self, page: str) -> tuple[float, int]:
        """CPU seconds and bytes of a page."""
        before = self._cpu_seconds()
        size = len(self._browser.open(self._base + page).read())
        return self._cpu_seconds() - before, size

    def _cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def viewing(folder: Path, index: Path) -> Iterator[ViewerProcess]:
    """A viewer in a process of its own."""
    where = ["-s", str(folder), "--index-dir", str(index)]
    command = [sys.executable, "-m", "satchel", "view", *where, "--no-browser", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield ViewerProcess(process, json.loads(process.stdout.readline())["url"])
    finally:
        process.terminate()
        process.wait()


def measure(corpus: str, folder: Path, index: Path) -> str:
    """The table of a corpus whose index is brought up to date first."""
    where = ["-s", str(folder), "--index-dir", str(index)]
    subprocess.run([sys.executable, "-m", "satchel", "index", *where], check=True)
    rows = [f"CPU seconds of the server for each page, {CORPORA[corpus].package}", ""]
    rows.append(f"{'first':>7} {'again':>7} {'bytes':>9}  page")
    for page in pages(corpus):
        with viewing(folder, index) as viewer:
            first, size = viewer.cost(page)
            again, _ = viewer.cost(page)
        rows.append(f"{first:>7.2f} {again:>7.2f} {size:>9,}  {page}")
        print(rows[-1], flush=True)
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--linux", action="store_true", help="on the Linux tree")
    parser.add_argument("--folder", type=Path, help="where the corpus is, if not in the cache")
    parser.add_argument("--index", type=Path, help="a folder for its index, which is kept")
    options = parser.parse_args()
    corpus = "linux" if options.linux else "django"
    with tempfile.TemporaryDirectory() as place:
        folder = options.folder or get(corpus, default_cache())
        told = measure(corpus, folder, options.index or Path(place))
    RESULTS.with_stem("viewer_speed_linux" if options.linux else "viewer_speed").write_text(told)


if __name__ == "__main__":
    main()
