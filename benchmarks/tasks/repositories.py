"""Whose fixes are replayed: repositories that no weight, word vector or choice of Satchel was made with.

The commit is where their history ends for this benchmark, so that the same fixes are replayed each time.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple


class Repository(NamedTuple):
    """A repository and the last commit of it that is looked at."""

    owner: str
    name: str
    commit: str

    @property
    def folder(self) -> str:
        """Return the name of its folder in a mirror."""
        return f"{self.owner}+{self.name}"


REPOSITORIES = (
    Repository("streamlink", "streamlink", "5376d2e8851bd523e390a2141360afddccb5adba"),
    Repository("borgbackup", "borg", "fc74d5f643d17d5341e303cd5ed4ddeb425660f0"),
    Repository("pypa", "virtualenv", "df94b342b732f96859595104bebbcfa74a88616b"),
    Repository("stylelint", "stylelint", "28cff889946ec3f53036f54cc08c04c425451245"),
    Repository("jshint", "jshint", "0a5644f8f529e252e7dd0c0d54334ae435b13de0"),
    Repository("VSCodeVim", "Vim", "1118267006d0c2813411764042906be92cdd314f"),
    Repository("stenciljs", "core", "48f4b9c772830ce1cc8c939deec39f46174f01f5"),
    Repository("excalidraw", "excalidraw", "4872083c044491b6d5c96ae134a75464f96d6831"),
    Repository("restic", "restic", "a80be1478a4c537f8396e0db2b05120aa78f11e0"),
    Repository("go-task", "task", "b250872d9aebcd4857679553339d167478b63514"),
    Repository("alacritty", "alacritty", "bdb72b32eeb074e3a0b8559d8ccac458237474a3"),
    Repository("mozilla", "sccache", "bf757277c5b401ff5c6629de4a165f08024352d9"),
    Repository("mybatis", "mybatis-3", "69ee03634a27808553fede707dcc4ef70478e0be"),
    Repository("redis", "jedis", "9bcb5c602b0a21b9106501d8b6c0b148c27d73dc"),
    Repository("square", "kotlinpoet", "be2de914ce6eb3694092ed4e0f28626cbce1ffe0"),
    Repository("cashapp", "sqldelight", "f79bd8ae2cf991de6dccdb643376253402f665e1"),
    Repository("InsertKoinIO", "koin", "fff5291f333c04fe5d6d9447f72740647d40d186"),
    Repository("i3", "i3", "47cab33aa8b3c8b47e34de6148440a1bc30a2297"),
    Repository("swaywm", "sway", "6959a78a8f0d52f79ad7465135b3295307a5146a"),
    Repository("dunst-project", "dunst", "312ed56fbcdc84823c99f21008467561394a8eb1"),
    Repository("polybar", "polybar", "f99e0b1c7a5b094f5a04b14101899d0cb4ece69d"),
    Repository("GothenburgBitFactory", "taskwarrior", "af8c5d58c8b864be64eeaaa24edd81d2aabe03f4"),
    Repository("NLog", "NLog", "01a20bc9b61c0d6296e5b6e62a0518a443b944b5"),
    Repository("nunit", "nunit", "3ca77a27f334fd87eaecc31d909b50cf72a1f20a"),
    Repository("squizlabs", "PHP_CodeSniffer", "c6c65ca0dc8608ba87631523b97b2f8d5351a854"),
    Repository("doctrine", "dbal", "afcd62473459a3eab92c684ed60d5c4bf42c6164"),
    Repository("asciidoctor", "asciidoctor", "ae5891df10f12dda069abea8a318c9b94d545bee"),
    Repository("rouge-ruby", "rouge", "c2d22eb2c5320076ae06c022ab4287057f0cb40b"),
    Repository("realm", "SwiftLint", "5ee4407a8a68079732d87f19e89e4ff2444619cf"),
    Repository("scalameta", "scalafmt", "b02c1a0dc0dd047b66a10c165342d85ce601be73"),
)


def clone(repository: Repository, mirror: Path, work: Path) -> Path:
    """Return a clone without a work tree that ends at the repository's commit; its objects stay in the
    mirror."""
    place = work / "clones" / repository.folder
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        source = mirror / repository.folder
        source = source / "repo" if (source / "repo").exists() else source
        _git("clone", "--quiet", "--shared", "--no-checkout", str(source), str(place))
    _git("-C", str(place), "update-ref", "--no-deref", "HEAD", repository.commit)
    return place


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, stdin=subprocess.DEVNULL)
