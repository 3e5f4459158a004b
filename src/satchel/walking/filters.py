"""Which content filters does a git configuration name, and how is each of them switched off?

Git runs a filter whenever it compares a file on disk with what it keeps of it. Attributes of any file choose
one, and a name may hold any byte, so every filter is given empty programs, by its name as git spells it.
The last look is taken with exactly the settings that are used afterwards: if it shows a program that would
still run (an older git cannot be told such names), git is not asked to compare anything.
"""

from __future__ import annotations

from pathlib import Path

from satchel.walking.git_command import GitProblem, GitUnusable, Overrides, run_git

_OFF = {b"clean": b"", b"smudge": b"", b"process": b"", b"required": b"false"}
_COMMON = frozenset({b"lfs"})  # on most machines the only one: with it one look is enough
_LOOKS = 3  # the second sees what the first one named; one more for a setting that just changed


def filters_off(root: Path) -> Overrides:
    """The settings without which comparing files in `root` could run a filter; GitUnusable if they do not
    reach."""
    names = _COMMON
    for _ in range(_LOOKS):
        off = tuple(
            (b"filter.%b.%b" % (name, key), value) for name in sorted(names) for key, value in _OFF.items()
        )
        switched_on = _switched_on(run_git(root, ["config", "--list", "-z"], config=off))
        if not switched_on:
            return off
        names |= switched_on
    raise GitUnusable(GitProblem.FAILED, "a filter cannot be switched off")


def _switched_on(listed: bytes) -> frozenset[bytes]:
    """The filters that a listing of settings, of which the last one of a name holds, gives anything to do."""
    settings = dict(_setting(record) for record in listed.split(b"\0") if record.startswith(b"filter."))
    found = set()
    for key, value in settings.items():
        name, dot, variable = key.removeprefix(b"filter.").rpartition(b".")
        if dot and value != _OFF.get(variable, value):  # without a dot it is no filter, only a variable
            found.add(name)
    return frozenset(found)


def _setting(record: bytes) -> tuple[bytes, bytes | None]:
    """Key and value; None where a key stands alone, which git takes for true."""
    key, line_end, value = record.partition(b"\n")
    return key, value if line_end else None
