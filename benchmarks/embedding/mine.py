"""Packages → training pairs. Run again, it goes on where it stopped.

    python mine.py CACHE_FOLDER PAIRS_FOLDER [--most N] [--no-fetch] [--registry NAME]

Each package gives one text file of pairs: kind, language, said terms, `term:count` of what it is about.
"""

from __future__ import annotations

import argparse
import lzma
import random
import sys
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from exclusion import content_is_forbidden, package_is_forbidden, path_is_forbidden
from pairs import Pair, PairKind, pairs
from registries import fetch, members

from satchel import languages

PACKAGES = Path(__file__).parent / "packages.txt"
MOST_FILES = 90  # of one package, chosen at random, so that no package outweighs the others
MOST_BYTES = 900_000
MOST_PAIRS = {  # of one package
    PairKind.DOC: 260,
    PairKind.NAME: 120,
    PairKind.HEAD: 60,
    PairKind.HEADING: 60,
    PairKind.COMMENT: 120,
}
DATA = frozenset({"unknown", "text", "json", "yaml", "toml", "config", "css", "scss", "html", "notebook"})
MINIFIED = 300  # characters a line on average


def listed(only: str | None) -> list[tuple[str, str]]:
    """Registry and name of every package that may be trained on, mixed so that a part is a fair sample."""
    registry, found = "", []
    for line in PACKAGES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            registry = line.strip("[]").split()[0]
        elif not line.startswith("#"):
            found += [(registry, name) for name in line.split()]
    allowed = [pair for pair in found if not package_is_forbidden(pair[1]) and only in (None, pair[0])]
    random.Random(1).shuffle(allowed)
    return allowed


def sources(archives: list[Path]) -> Iterator[tuple[str, str]]:
    """Text and language of a fair choice of a package's files."""
    found = []
    for archive in archives:
        for path, content in members(archive):
            allowed = not path_is_forbidden(path) and not content_is_forbidden(content)
            if allowed and languages.detect(path) not in DATA and b"\0" not in content:
                found.append((path, content))
    random.Random(zlib.crc32(archives[0].name.encode())).shuffle(found)
    total = 0
    for path, content in found[:MOST_FILES]:
        total += len(content)
        text = content.decode("utf-8", "replace")
        if total <= MOST_BYTES and len(text) / (text.count("\n") + 1) < MINIFIED:
            yield text, languages.detect(path, text[:1000])


def mined(archives: list[Path]) -> Iterator[str]:
    """The lines of one package's file."""
    chosen: dict[PairKind, list[tuple[str, Pair]]] = {kind: [] for kind in PairKind}
    seen = set()
    for text, language in sources(archives):
        for pair in pairs(text, language):
            if (pair.said, pair.about) not in seen:
                seen.add((pair.said, pair.about))
                chosen[pair.kind].append((language, pair))
    choice = random.Random(zlib.crc32(archives[0].name.encode()))
    for kind, found in chosen.items():
        for language, pair in choice.sample(found, min(len(found), MOST_PAIRS[kind])):
            about = " ".join(f"{term}:{count}" for term, count in pair.about)
            yield f"{kind}\t{language}\t{' '.join(pair.said)}\t{about}\n"


def main() -> None:
    """Fetch and mine what the list names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--most", type=int, default=None, help="packages to mine in this run")
    parser.add_argument("--registry", default=None)
    parser.add_argument("--no-fetch", action="store_true", help="only what the cache holds")
    options = parser.parse_args()
    options.pairs.mkdir(parents=True, exist_ok=True)
    outcome: Counter[str] = Counter()
    for registry, name in listed(options.registry)[: options.most]:
        outcome[_mine(registry, name, options)] += 1
    print(dict(outcome))


def _mine(registry: str, name: str, options: argparse.Namespace) -> str:
    target = options.pairs / f"{registry}+{name.replace('/', '+')}.tsv"
    if target.exists():
        return "mined before"
    if options.no_fetch and not (options.cache / registry / name.replace("/", "+") / ".finished").exists():
        return "not fetched"
    archives = fetch(registry, name, options.cache)
    if not archives:
        return "cannot be had"
    try:
        lines = list(mined(archives))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, lzma.LZMAError) as error:
        print(name, error, file=sys.stderr)
        return "unreadable"
    target.write_text("".join(lines), encoding="utf-8")
    return "mined" if lines else "gave nothing"


if __name__ == "__main__":
    main()
