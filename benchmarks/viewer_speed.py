"""What does each page of the viewer cost the server, as the first page that it shows and again?

    python benchmarks/viewer_speed.py [--folder FOLDER]

On Django (see corpora.py), in CPU seconds of the server process (user and system), with the index built
before. Each first figure is of a server that was started for this page alone, after it was asked for the
empty page Pack, which needs no index. The figures are kept in results/viewer_speed.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpora import default_cache, get

RESULTS = Path(__file__).parent / "results" / "viewer_speed.txt"
PAGES = (
    "/",
    "/?central=1",
    "/?q=where+are+sessions+stored",
    "/pack?q=where+are+sessions+stored",
    "/pack?q=where+are+sessions+stored&left=1",
    "/code/",
    "/code/django/db/models/query.py",
    "/code/django/db/models/query.py?name=QuerySet",
    "/map",
    "/map?color=used_by",
    "/map?name=QuerySet",
    "/quality",
    "/status",
)


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
def viewing(folder: Path) -> Iterator[ViewerProcess]:
    """A viewer in a process of its own."""
    command = [sys.executable, "-m", "satchel", "view", "-s", str(folder), "--no-browser", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield ViewerProcess(process, json.loads(process.stdout.readline())["url"])
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="another repository than Django")
    chosen = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "django"
        shutil.copytree(chosen or get("django", default_cache()), folder, symlinks=True)
        subprocess.run([sys.executable, "-m", "satchel", "index", "-s", str(folder)], check=True)
        rows = [f"{'first':>7} {'again':>7} {'bytes':>9}  page"]
        for page in PAGES:
            with viewing(folder) as viewer:
                first, size = viewer.cost(page)
                again, _ = viewer.cost(page)
            rows.append(f"{first:>7.2f} {again:>7.2f} {size:>9,}  {page}")
            print(rows[-1], flush=True)
    if chosen is None:
        RESULTS.write_text(
            "CPU seconds of the server for each page, Django 5.2.4\n\n" + "\n".join(rows) + "\n"
        )


if __name__ == "__main__":
    main()
