"""What do the peers cost on the same folder?

    python benchmarks/peers.py FOLDER [--runs 3]

**ctags** is universal-ctags, `ctags -R` with the tags file outside the folder.

**semble** has no command that only indexes: `semble search QUERY FOLDER` looks for an index of that
folder in its cache, builds and saves one if there is none, and answers. So *cold index* is the first
search with an empty cache folder (`SEMBLE_CACHE_LOCATION`, new for every run), *warm search* is the
same command again, and *one file edited* is the same command after one file changed, which parses
that file again and writes the whole index anew. Its index is a folder per searched path: the chunks as
JSON, a BM25 matrix, float vectors and a manifest with file times. By itself it indexes code only;
`--content all` adds documents and configuration and is measured beside it, because Satchel indexes
those too. Its command line starts four worker processes; that is left as it is.

Its model would be downloaded at the first start. Instead a model2vec folder of the same shape (256
numbers for each of 32,000 tokens) is made from the table inside the wordllama wheel, and
`SEMBLE_MODEL_NAME` names it: the cost is the real one, the quality of its vectors a little lower.
`HF_HUB_OFFLINE` makes any attempt to reach the network an error. All of it lives in the cache folder,
in an environment of its own.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from corpora import default_cache
from measure import Measurement, disk_bytes, measure, median_of

SEMBLE_PACKAGES = ("semble==0.7.0", "wordllama==0.4.0.post1", "model2vec==0.10.0")
ADDED_NAME = "satchel_benchmark_addition"  # the function that an edit adds, found nowhere else
EDITED_BYTES = 16_000  # a module of about 450 lines: neither an empty `__init__` nor a giant
QUESTION = "how does the query compiler build joins"
MAKE_MODEL = """
import sys
from pathlib import Path
import wordllama
from model2vec import StaticModel
from safetensors.numpy import load_file
from tokenizers import Tokenizer

package = Path(wordllama.__file__).parent
(table,) = load_file(next((package / "weights").glob("*_256.safetensors"))).values()
tokenizer = Tokenizer.from_file(str(next((package / "tokenizers").glob("*.json"))))
StaticModel(table.astype("float32"), tokenizer, normalize=True).save_pretrained(sys.argv[1])
"""


@dataclass(frozen=True, slots=True)
class PeerRow:
    """One measured peer; `disk_mb` is what it left on disk, 0 where that is not the question."""

    label: str
    cost: Measurement
    disk_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Semble:
    """An installed semble with its offline model."""

    program: Path
    model: Path

    def search(self, folder: Path, index: Path, *content: str) -> Measurement:
        """`semble search`, with `index` as its cache folder; whatever the index lacks is built first."""
        command: list[str | Path] = [self.program, "search", QUESTION, folder, "-k", "10"]
        if content:
            command += ["--content", *content]
        return measure(command, env=self.environment(index))

    def environment(self, index: Path) -> dict[str, str]:
        """Return what makes semble use its model, and `index` as its cache folder, without a network."""
        return {
            "SEMBLE_MODEL_NAME": str(self.model),
            "SEMBLE_CACHE_LOCATION": str(index),
            "HF_HUB_OFFLINE": "1",
        }


def install_semble(cache: Path) -> Semble:
    """semble in its own environment below the cache folder, installed once."""
    home = cache / "peers" / "-".join(part.replace("==", "-") for part in SEMBLE_PACKAGES)
    python = home / "bin" / "python"
    if not (home / "model").is_dir():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *SEMBLE_PACKAGES], check=True)
        subprocess.run([python, "-c", MAKE_MODEL, home / "partial"], check=True)
        (home / "partial").rename(home / "model")
    return Semble(home / "bin" / "semble", home / "model")


def ctags(folder: Path, runs: int) -> PeerRow:
    """`ctags -R`, the yardstick that every figure is also a multiple of."""
    with tempfile.TemporaryDirectory() as scratch:
        tags = Path(scratch, "tags")
        cost = median_of(runs, lambda: measure(["ctags", "-R", "-f", tags, "."], cwd=folder))
        return PeerRow("ctags -R", cost, disk_bytes(tags) / 1e6)


def semble_rows(
    semble: Semble, folder: Path, runs: int, *content: str, beside: Callable[[], object] = lambda: None
) -> list[PeerRow]:
    """semble cold, warm, and after an edit. `folder` is a copy that may be changed; `beside` runs after each
    cold index, so that what is compared meets the same moods of the machine."""
    suffix = f" --content {' '.join(content)}" if content else ""
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch, "index")

        def cold() -> Measurement:
            shutil.rmtree(index, ignore_errors=True)
            cost = semble.search(folder, index, *content)
            beside()
            return cost

        def edited() -> Measurement:
            with edited_file(folder):
                return semble.search(folder, index, *content)

        semble.search(folder, index, *content)  # byte-compiles and fills the page cache
        first = median_of(runs, cold)
        size = disk_bytes(index) / 1e6
        warm = median_of(runs, lambda: semble.search(folder, index, *content))
        return [
            PeerRow(f"semble index (cold){suffix}", first, size),
            PeerRow(f"semble search (CLI){suffix}", warm),
            PeerRow(f"semble, one file edited (CLI){suffix}", median_of(runs, edited)),
        ]


@contextmanager
def edited_file(folder: Path) -> Iterator[Path]:
    """One source file of a usual size with a new function at its end, for as long as the block runs.

    The file is replaced, never written into: `folder` may be made of hard links to a corpus.
    """
    path = _file_to_edit(folder)
    before = path.read_bytes()
    _replace(path, before + b"\n\n" + _ADDITION[path.suffix])
    try:
        yield path
    finally:
        _replace(path, before)


_ADDITION = {
    ".py": f"def {ADDED_NAME}(first, second):\n    return first + second\n".encode(),
    ".c": f"int {ADDED_NAME}(int first, int second)\n{{\n\treturn first + second;\n}}\n".encode(),
}


def _file_to_edit(folder: Path) -> Path:
    """The source file nearest to a usual size; the same in every run."""
    files = [path for path in folder.rglob("*") if path.suffix in _ADDITION and path.is_file()]
    return min(files, key=lambda path: (abs(path.stat().st_size - EDITED_BYTES), path))


def _replace(path: Path, content: bytes) -> None:
    fresh = path.with_name(f"{path.name}.fresh")
    fresh.write_bytes(content)
    fresh.replace(path)


@contextmanager
def linked_copy(folder: Path, cache: Path) -> Iterator[Path]:
    """The folder again, made of hard links, so that edits and litter stay out of the corpus."""
    with tempfile.TemporaryDirectory(dir=cache, prefix="copy-") as scratch:
        copy = Path(scratch, folder.name)
        shutil.copytree(folder, copy, symlinks=True, copy_function=_link)
        yield copy


def _link(source: str, target: str) -> None:
    """A hard link; never through a symbolic link, which `symlinks=True` has already dealt with."""
    Path(target).hardlink_to(source)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=default_cache())
    arguments = parser.parse_args()
    semble = install_semble(arguments.cache)
    with linked_copy(arguments.folder.resolve(), arguments.cache) as folder:
        rows = [ctags(folder, arguments.runs)]
        rows += semble_rows(semble, folder, arguments.runs)
        rows += semble_rows(semble, folder, arguments.runs, "all")
    print(f"{'':44} {'CPU s':>8} {'wall s':>8} {'RSS MB':>8} {'tree MB':>8} {'disk MB':>8}")
    for row in rows:
        cost = row.cost
        figures = (cost.cpu_s, cost.wall_s, cost.peak_rss_mb, cost.tree_rss_mb, row.disk_mb)
        print(f"{row.label:44}" + "".join(f" {figure:8.2f}" for figure in figures))


if __name__ == "__main__":
    main()
