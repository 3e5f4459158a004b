"""Which real code do the benchmarks run on, and how does it get here?

    python benchmarks/corpora.py list
    python benchmarks/corpora.py get django redis
    python benchmarks/corpora.py get sweep            every corpus of the sweep

Nothing is committed: each corpus is fetched by name with the client its ecosystem already has (pip,
npm, apt-get) and unpacked as a plain folder without git into `--cache`, `$SATCHEL_BENCH_CACHE` or
`~/.cache/satchel-bench`. No code of a package is run: sdists are not built, npm scripts not started,
Debian packages not installed. A corpus that is there already is not fetched again.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

APT_SOURCES = Path("/etc/apt")
DISTRIBUTION = re.compile(r"/(debian|ubuntu)\b")  # other vendors' archives carry no source packages


class Client(StrEnum):
    """The program that fetches a package by its name."""

    PYPI_SDIST = "pip (sdist)"
    PYPI_WHEEL = "pip (wheel)"
    NPM = "npm pack"
    DEBIAN_SOURCE = "apt-get source"
    DEBIAN_BINARY = "apt-get download"


@dataclass(frozen=True, slots=True)
class Corpus:
    """One body of code. `package` is as the client takes it; `language` is what most of it is in."""

    name: str
    client: Client
    package: str
    language: str
    folder: str = ""  # the part of the package that is kept, where the whole would be too much


LARGE = (
    Corpus("django", Client.PYPI_SDIST, "django==5.2.4", "python"),
    Corpus("linux", Client.DEBIAN_BINARY, "linux-source-6.1", "c"),
)
SWEEP = (
    Corpus("flask", Client.PYPI_SDIST, "flask==3.1.1", "python"),
    Corpus("nbconvert", Client.PYPI_SDIST, "nbconvert==7.16.6", "notebook"),
    Corpus("protos", Client.PYPI_SDIST, "googleapis-common-protos==1.70.0", "protobuf"),
    Corpus("eslint", Client.NPM, "eslint@9.17.0", "javascript"),
    Corpus("rxjs", Client.NPM, "rxjs@7.8.2", "typescript"),
    Corpus("react-admin-ui", Client.NPM, "ra-ui-materialui@5.4.0", "tsx"),
    Corpus("gin", Client.DEBIAN_SOURCE, "golang-github-gin-gonic-gin", "go"),
    Corpus("cobra", Client.DEBIAN_SOURCE, "golang-github-spf13-cobra", "go"),
    Corpus("tokio", Client.DEBIAN_BINARY, "librust-tokio-dev", "rust"),
    Corpus("clap", Client.DEBIAN_SOURCE, "rust-clap", "rust"),
    Corpus("commons-lang", Client.DEBIAN_SOURCE, "libcommons-lang3-java", "java"),
    Corpus("redis", Client.DEBIAN_SOURCE, "redis", "c"),
    Corpus("fmt", Client.DEBIAN_SOURCE, "fmtlib", "cpp"),
    Corpus("newtonsoft-json", Client.DEBIAN_SOURCE, "newtonsoft-json", "csharp"),
    Corpus("activerecord", Client.DEBIAN_BINARY, "ruby-activerecord", "ruby"),
    Corpus("monolog", Client.DEBIAN_SOURCE, "php-monolog", "php"),
    Corpus("bash-completion", Client.DEBIAN_SOURCE, "bash-completion", "bash"),
    Corpus("penlight", Client.DEBIAN_BINARY, "lua-penlight", "lua"),
    Corpus("hlint", Client.DEBIAN_SOURCE, "hlint", "haskell"),
    Corpus("aeson", Client.DEBIAN_SOURCE, "haskell-aeson", "haskell"),
    Corpus("scala", Client.DEBIAN_SOURCE, "scala", "scala", "src/library"),
    Corpus("coroutines", Client.DEBIAN_SOURCE, "kotlinx-coroutines", "kotlin"),
    Corpus("elixir", Client.DEBIAN_SOURCE, "elixir-lang", "elixir"),
    Corpus("capacitor-ios", Client.NPM, "@capacitor/ios@7.0.0", "swift"),
    Corpus("pydust", Client.PYPI_WHEEL, "ziggy-pydust==0.26.0", "zig"),
)
CORPORA = {corpus.name: corpus for corpus in (*LARGE, *SWEEP)}


def default_cache() -> Path:
    """Where corpora and peers live unless `--cache` says otherwise."""
    return Path(os.environ.get("SATCHEL_BENCH_CACHE") or Path.home() / ".cache" / "satchel-bench")


def get(name: str, cache: Path | None = None) -> Path:
    """The folder of a corpus, fetched if it is not there yet; complete or absent, never half."""
    corpus = CORPORA[name]
    root = cache or default_cache()
    target = root / "corpora" / name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=f"{name}-") as scratch:
        download, unpacked = Path(scratch, "download"), Path(scratch, "unpacked")
        download.mkdir()
        unpacked.mkdir()
        _unpack(_FETCHERS[corpus.client](corpus.package, download), unpacked)
        (_only_child(unpacked) / corpus.folder).rename(target)
    _forget_packaging(target / ".gitignore")
    return target


def _forget_packaging(ignore_file: Path) -> None:
    """Debian's kernel tree ends its `.gitignore` with lines that ignore the whole tree."""
    if ignore_file.is_file():
        kept, found, _ = ignore_file.read_text().partition("#\n# Debian packaging: ignore everything")
        if found:
            ignore_file.write_text(kept)


def _run(command: list[str], cwd: Path) -> str:
    """A client's standard output; what it complained about becomes the error."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()[-2000:]}")
    return done.stdout


def _fetch_sdist(package: str, folder: Path) -> Path:
    """The sdist that pip would choose, fetched by pip's own finder and session.

    `pip download` would also start the package's build backend to learn its metadata.
    """
    name, _, version = package.partition("==")
    specifiers = importlib.import_module("pip._vendor.packaging.specifiers")
    command = importlib.import_module("pip._internal.commands").create_command("download")
    with command.main_context():
        options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:", name])
        session = command.get_default_session(options)
        finder = command._build_package_finder(options=options, session=session)
        wanted = specifiers.SpecifierSet(f"=={version}")
        candidate = finder.find_best_candidate(name, wanted).best_candidate
        if candidate is None:
            raise SystemExit(f"pip finds no sdist of {package}")
        content: bytes = session.get(candidate.link.url_without_fragment).content
    if candidate.link.hash_name == "sha256" and hashlib.sha256(content).hexdigest() != candidate.link.hash:
        raise SystemExit(f"the sdist of {package} does not have the sha256 that the index gives")
    archive = folder / str(candidate.link.filename)
    archive.write_bytes(content)
    return archive


def _fetch_wheel(package: str, folder: Path) -> Path:
    flags = ["--quiet", "--no-deps", "--only-binary", ":all:"]
    _run([sys.executable, "-m", "pip", "download", *flags, package], folder)
    return _only_child(folder)


def _fetch_npm(package: str, folder: Path) -> Path:
    _run(["npm", "pack", "--silent", "--ignore-scripts", package], folder)
    return _only_child(folder)


def _fetch_debian_source(package: str, folder: Path) -> Path:
    """The upstream tarball alone, without the distribution's patches."""
    _run(["apt-get", *_apt_options(), "source", "--download-only", "--tar-only", package], folder)
    return next(
        path for path in sorted(folder.iterdir()) if ".orig.tar." in path.name and path.suffix != ".asc"
    )


def _fetch_debian_binary(package: str, folder: Path) -> Path:
    """What the package would install; of a `-source` package the tarball inside."""
    _run(["apt-get", *_apt_options(), "download", package], folder)
    content = folder / "content"
    _run(["dpkg-deb", "-x", str(next(folder.glob("*.deb"))), str(content)], folder)
    return next((path for path in content.rglob("*.tar.*") if "source" in path.name), content)


@functools.cache
def _apt_home() -> tempfile.TemporaryDirectory[str]:
    """Package lists of our own, once per process: needs no root and leaves the machine's lists alone."""
    return tempfile.TemporaryDirectory(prefix="satchel-bench-apt-")


@functools.cache
def _apt_options() -> tuple[str, ...]:
    """Options for apt with fresh lists of binary and source packages.

    Source packages are usually switched off; the copy of the machine's entries switches them on.
    """
    home = Path(_apt_home().name)
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (home / folder).mkdir(parents=True)
    for path in (*APT_SOURCES.glob("sources.list"), *APT_SOURCES.glob("sources.list.d/*")):
        if entries := _with_sources(path.read_text(encoding="utf-8"), deb822=path.suffix == ".sources"):
            (home / "parts" / path.name).write_text(entries, encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": home / "none",
        "Dir::Etc::sourceparts": home / "parts",
        "Dir::State::lists": home / "lists",
        "Dir::Cache": home / "cache",
        "APT::Sandbox::User": "root",  # apt's own user cannot write into a private folder
    }
    options = tuple(part for key, value in settings.items() for part in ("-o", f"{key}={value}"))
    _run(["apt-get", *options, "update"], home)
    return options


def _with_sources(text: str, *, deb822: bool) -> str:
    """The distribution's own entries of an apt list, each for binary and source packages."""
    if not deb822:
        lines = [line for line in text.splitlines() if line.startswith("deb ") and DISTRIBUTION.search(line)]
        return "".join(f"{line}\ndeb-src {line[4:]}\n" for line in lines)
    stanzas = [stanza for stanza in text.split("\n\n") if DISTRIBUTION.search(stanza)]
    return "\n\n".join(re.sub(r"(?m)^Types:.*$", "Types: deb deb-src", stanza) for stanza in stanzas)


_FETCHERS: dict[Client, Callable[[str, Path], Path]] = {
    Client.PYPI_SDIST: _fetch_sdist,
    Client.PYPI_WHEEL: _fetch_wheel,
    Client.NPM: _fetch_npm,
    Client.DEBIAN_SOURCE: _fetch_debian_source,
    Client.DEBIAN_BINARY: _fetch_debian_binary,
}


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks an archive, or takes a folder. A git folder in it would change what a walk sees: it goes."""
    if archive.is_dir():
        archive.rename(folder / archive.name)
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")  # refuses members that would leave the folder
    for git in folder.glob("*/.git"):
        shutil.rmtree(git)


def _only_child(folder: Path) -> Path:
    """The one entry of a folder, or the folder itself where there are several."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 else folder


def _expand(names: Iterable[str]) -> list[str]:
    """Names of corpora, groups replaced by their members."""
    groups = {"sweep": SWEEP, "large": LARGE, "all": tuple(CORPORA.values())}
    if unknown := [name for name in names if name not in CORPORA and name not in groups]:
        raise SystemExit(f"no corpus {', '.join(unknown)}; there are {', '.join((*CORPORA, *groups))}")
    return [corpus.name for name in names for corpus in groups.get(name) or (CORPORA[name],)]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("list", "get"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cache", type=Path, default=default_cache())
    arguments = parser.parse_args()
    if arguments.action == "list":
        for corpus in CORPORA.values():
            print(f"{corpus.name:16} {corpus.language:11} {corpus.client:17} {corpus.package}")
    for name in _expand(arguments.names):
        print(get(name, arguments.cache))


if __name__ == "__main__":
    main()
