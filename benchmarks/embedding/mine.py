"""Packages and repositories → training pairs. Run again, it goes on where it stopped.

    python mine.py CACHE_FOLDER PAIRS_FOLDER [--most N] [--no-fetch] [--registry NAME]
    python mine.py CACHE_FOLDER PAIRS_FOLDER --mirror MIRROR --names ../quality/repositories.txt

Each package gives one text file of pairs: kind, language, said terms, `term:count` of what it is about.
With `--mirror` the newest commit of each named repository is read instead, from its git directory
`owner+name/repo`.
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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from exclusion import content_is_forbidden, package_is_forbidden, path_is_forbidden
from pairs import Pair, PairKind, pairs
from registries import fetch, members

from satchel import languages
from satchel.walking import git
from satchel.walking.git_command import GitUnusable

PACKAGES = Path(__file__).parent / "packages.txt"
REPOSITORY_FILE_BYTES = range(200, 200_000)  # smaller files say nothing, larger ones are data
MOST_PAIRS = {  # of one package
    PairKind.DOC: 260,
    PairKind.NAME: 120,
    PairKind.HEAD: 60,
    PairKind.HEADING: 60,
    PairKind.COMMENT: 120,
}
DATA = frozenset({"unknown", "text", "json", "yaml", "toml", "config", "css", "scss", "html", "notebook"})
MINIFIED = 300  # characters a line on average
COPIED = ("vendor/", "third_party/", "node_modules/", "/dist/")  # folders of a repository

File = tuple[str, bytes]  # path and content


class Share(NamedTuple):
    """How much is taken of one origin, chosen at random, so that none outweighs the others."""

    files: int
    bytes: int
    pairs: float  # times MOST_PAIRS


PACKAGE = Share(90, 900_000, 1.0)
REPOSITORY = Share(420, 4_000_000, 2.5)  # larger than a package, and fewer


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


def archive_files(archives: Iterable[Path]) -> Iterator[File]:
    """The files of a package."""
    for archive in archives:
        yield from members(archive)


def repository_files(root: Path, seed: str) -> Iterator[File]:
    """The files of a repository's newest commit, as many as may be taken."""
    listed = [
        blob
        for blob in git.list_tree(root, git.resolve_ref(root, "HEAD")).blobs
        if blob.size in REPOSITORY_FILE_BYTES
        and languages.detect(blob.path) not in DATA
        and not path_is_forbidden(blob.path)
        and not any(folder in blob.path.lower() for folder in COPIED)
    ]
    random.Random(zlib.crc32(seed.encode())).shuffle(listed)
    chosen = {blob.sha: blob.path for blob in listed[: REPOSITORY.files]}
    for sha, content in git.read_blobs(root, list(chosen)):
        if content is not None:
            yield chosen[sha], content


def sources(files: Iterable[File], seed: str, share: Share) -> Iterator[tuple[str, str]]:
    """Text and language of a fair choice of the files."""
    found = []
    for path, content in files:
        allowed = not path_is_forbidden(path) and not content_is_forbidden(content)
        if allowed and languages.detect(path) not in DATA and b"\0" not in content:
            found.append((path, content))
    random.Random(zlib.crc32(seed.encode())).shuffle(found)
    total = 0
    for path, content in found[: share.files]:
        total += len(content)
        text = content.decode("utf-8", "replace")
        if total <= share.bytes and len(text) / (text.count("\n") + 1) < MINIFIED:
            yield text, languages.detect(path, text[:1000])


def mined(files: Iterable[File], seed: str, share: Share) -> Iterator[str]:
    """The lines of one origin's file."""
    chosen: dict[PairKind, list[tuple[str, Pair]]] = {kind: [] for kind in PairKind}
    seen = set()
    for text, language in sources(files, seed, share):
        for pair in pairs(text, language):
            if (pair.said, pair.about) not in seen:
                seen.add((pair.said, pair.about))
                chosen[pair.kind].append((language, pair))
    choice = random.Random(zlib.crc32(seed.encode()))
    for kind, found in chosen.items():
        for language, pair in choice.sample(found, min(len(found), int(MOST_PAIRS[kind] * share.pairs))):
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
    parser.add_argument("--mirror", type=Path, help="read repositories from this folder of git directories")
    parser.add_argument("--names", type=Path, help="which repositories, owner/name on each line")
    options = parser.parse_args()
    options.pairs.mkdir(parents=True, exist_ok=True)
    outcome: Counter[str] = Counter()
    if options.mirror:
        for name in options.names.read_text(encoding="utf-8").split():
            outcome[_mine_repository(name, options)] += 1
    else:
        for registry, name in listed(options.registry)[: options.most]:
            outcome[_mine_package(registry, name, options)] += 1
    print(dict(outcome))


def _mine_package(registry: str, name: str, options: argparse.Namespace) -> str:
    plain = name.replace("/", "+")
    target = options.pairs / f"{registry}+{plain}.tsv"
    if target.exists():
        return "mined before"
    if options.no_fetch and not (options.cache / registry / plain / ".finished").exists():
        return "not fetched"
    archives = fetch(registry, name, options.cache)
    if not archives:
        return "cannot be had"
    return _kept(target, lambda: mined(archive_files(archives), archives[0].name, PACKAGE))


def _mine_repository(name: str, options: argparse.Namespace) -> str:
    plain = name.replace("/", "+")
    target, root = options.pairs / f"git+{plain}.tsv", options.mirror / plain / "repo"
    if target.exists():
        return "mined before"
    if package_is_forbidden(name.rpartition("/")[2]) or not root.is_dir():
        return "cannot be had"
    return _kept(target, lambda: mined(repository_files(root, name), name, REPOSITORY))


def _kept(target: Path, lines: Callable[[], Iterator[str]]) -> str:
    """Write the pairs of one origin; return what came of it."""
    try:
        text = "".join(lines())
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, lzma.LZMAError, GitUnusable) as error:
        print(target.stem, error, file=sys.stderr)
        return "unreadable"
    target.write_text(text, encoding="utf-8")
    return "mined" if text else "gave nothing"


if __name__ == "__main__":
    main()
