"""Name everything outside the listed files that decides what git says of a work tree: refs, settings, ignore
and attribute files, the git program itself.

As long as none of them and no listed folder or file has another stamp, git would answer as it did. A file
that does not exist is named as well, because it counts once somebody makes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.walking.git_folder import find_git_folder, read_beginning

if TYPE_CHECKING:
    from satchel.walking.git_command import Setting

# What git reads in the git folder of a work tree, and in that of its repository. The two are one folder
# except in a linked work tree.
_OWN_FILES = ("HEAD", "commondir", "config.worktree", "gitdir", "index", "info/sparse-checkout")
_SHARED_FILES = ("config", "info/attributes", "info/exclude", "packed-refs")
_ANY_FILES = ("reftable/tables.list",)
_RULES = (".gitignore", ".gitattributes")
_SYSTEM_FILES = ("/etc/gitconfig", "/etc/gitattributes")
_ENVIRONMENT = (
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_TEST_ASSUME_DIFFERENT_OWNER",
    "HOME",
    "SUDO_UID",  # whose repositories root may read
    "XDG_CONFIG_HOME",
)
_REF_STEPS = 5  # symbolic refs that lead to each other; git follows as many
_NESTED_FILES = (".git", ".git/HEAD", ".git/objects", ".git/refs")  # make a folder a repository


def git_environment() -> str:
    """Return the variables that decide which settings git reads, as one text."""
    return "\n".join(os.environ.get(name, "\0") for name in _ENVIRONMENT)


def find_git_program() -> str:
    """Return the path of the git program, empty if there is none. `shutil.which` says the same and takes
    longer to load."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        program = os.path.join(folder, "git")
        if os.access(program, os.X_OK) and not os.path.isdir(program):
            return program
    return ""


def paths_that_decide(root: Path, settings: Iterable[Setting], nested: Sequence[str]) -> list[str]:
    """Return the absolute paths that decide what git says of the root, besides what it lists below it.

    `settings` are all settings in force, `nested` the repositories inside the root that git does not enter.
    """
    found: dict[str, None] = {find_git_program(): None}
    folder = str(root.absolute())
    while not os.path.lexists(f"{folder}/.git") and os.path.dirname(folder) != folder:
        found |= dict.fromkeys(f"{folder}/{name}" for name in (".git", *_RULES))
        folder = os.path.dirname(folder)
    found |= dict.fromkeys((folder, f"{folder}/.git", *(f"{folder}/{name}" for name in _RULES)))
    found |= dict.fromkeys(_repository_files(folder))
    found |= dict.fromkeys(_setting_files(settings, (folder, str(root.absolute()))))
    found |= dict.fromkeys(f"{root.absolute()}/{path}{name}" for path in nested for name in _NESTED_FILES)
    return list(found)


def _repository_files(top: str) -> Iterator[str]:
    """Yield the git folders of a work tree, and the files in them that decide what git says."""
    own = find_git_folder(top)
    shared = os.path.join(own, read_beginning(f"{own}/commondir").strip())
    refs = list(_refs_of_head(own, shared))
    for folder, names in ((own, _OWN_FILES), (shared, _SHARED_FILES)):
        yield folder
        yield from (f"{folder}/{name}" for name in (*names, *_ANY_FILES, *refs))


def _refs_of_head(own: str, shared: str) -> Iterator[str]:
    """Yield the refs that lead from HEAD to the commit: one, or several that name each other."""
    said = read_beginning(f"{own}/HEAD")
    for _ in range(_REF_STEPS):
        ref = said.removeprefix("ref:").strip() if said.startswith("ref:") else ""
        if not ref.startswith("refs/") or ".." in ref:  # the latter is no ref, but a way out of the folder
            return
        yield ref
        said = read_beginning(f"{own}/{ref}") or read_beginning(f"{shared}/{ref}")


def _setting_files(settings: Iterable[Setting], bases: Sequence[str]) -> Iterator[str]:
    """Yield the files that hold settings, that they include, and those that would hold some if they were
    there. A relative name is taken from the folders where git may have started."""
    yield from _SYSTEM_FILES
    home = os.path.expanduser("~")
    yield f"{os.environ.get('XDG_CONFIG_HOME') or os.path.join(home, '.config')}/git/config"
    yield f"{home}/.gitconfig"
    yield from filter(None, map(os.environ.get, ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")))
    for origin, key, value in settings:
        if not origin.startswith(b"file:"):
            continue
        files = [os.path.join(base, os.fsdecode(origin.removeprefix(b"file:"))) for base in bases]
        yield from files
        if key == b"include.path" or (key.startswith(b"includeif.") and key.endswith(b".path")):
            included = os.path.expanduser(os.fsdecode(value or b""))
            yield from (os.path.join(os.path.dirname(file), included) for file in files)
