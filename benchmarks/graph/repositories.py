"""Which repositories is the graph measured on, and where is everything about them kept?"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SUFFIXES = {
    "python": (".py",),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "go": (".go",),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".h", ".hpp"),
}


class Repository(NamedTuple):
    """A repository whose truth is known. Only definitions below `within` are sampled."""

    name: str
    owner: str
    language: str
    sampled: int  # definitions in each of the two samples
    within: str = ""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the endings of the files that the oracle of the language reads."""
        return SUFFIXES[self.language]


# The first six are small: together they are measured in less than two minutes.
SMALL = (
    Repository("httpx", "encode", "python", 60),
    Repository("flask", "pallets", "python", 60),
    Repository("requests", "psf", "python", 60),
    Repository("zod", "colinhacks", "typescript", 75, "packages/zod/"),
    Repository("cobra", "spf13", "go", 60),
    Repository("jq", "jqlang", "c", 70, "src/"),
)
LARGE = (
    Repository("celery", "celery", "python", 90),
    Repository("gin", "gin-gonic", "go", 90),
    Repository("trpc", "trpc", "typescript", 75, "packages/"),
    Repository("typeorm", "typeorm", "typescript", 90, "src/"),
    Repository("zoekt", "sourcegraph", "go", 90),
    Repository("redis", "redis", "c", 110, "src/"),
)
# Of C++, the rules were made on the first three; the others were set aside.
CPP = (
    Repository("leveldb", "google", "cpp", 90),
    Repository("ninja", "ninja-build", "cpp", 90, "src/"),
    Repository("spdlog", "gabime", "cpp", 90, "include/spdlog/"),
    Repository("yaml-cpp", "jbeder", "cpp", 90),
    Repository("fmt", "fmtlib", "cpp", 90, "include/"),
    Repository("tinyxml2", "leethomason", "cpp", 60),
)
REPOSITORIES = {repository.name: repository for repository in (*SMALL, *LARGE, *CPP)}


@dataclass(frozen=True, slots=True)
class Lab:
    """The folder outside the tree that holds clones, tools, indexes and truth."""

    root: Path
    indexes: Path | None = None  # another place for the indexes, for two versions of Satchel side by side

    def clone(self, repository: Repository) -> Path:
        """Return the working copy of a repository."""
        return self.root / "repos" / repository.name

    def index(self, repository: Repository) -> Path:
        """Return the folder of the index that answers about a repository."""
        return (self.indexes or self.root / "index") / repository.name

    def truth(self, repository: Repository) -> Path:
        """Return the file with what the oracle of a repository said."""
        return self.root / "truth" / f"{repository.name}.json"

    @property
    def tools(self) -> Path:
        """Return the folder of the language servers and compilers."""
        return self.root / "tools"


def commit_of(clone: Path) -> str:
    """Return the commit that a working copy is at."""
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def listed_files(clone: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Return the files of a working copy that git knows, by their endings."""
    command = ["git", "-C", str(clone), "ls-files", "-z", "--", *(f"*{suffix}" for suffix in suffixes)]
    written = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return sorted(path for path in written.split("\0") if path and (clone / path).is_file())
