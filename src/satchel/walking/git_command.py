"""How is git called so that a hostile repository cannot make it run anything?

A repository's own configuration can name programs: hooks, a file-system monitor, content filters,
transports, a pager. Each is switched off on the command line, which wins over the configuration.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from satchel.errors import Unsupported
from satchel.walking import git_folder

TIMEOUT_SECONDS = 60  # the largest public trees list in a second; more is a hang
_SHORT_SECONDS = 10  # for what only reads settings and refs: a FIFO that a setting includes is a hang too
_SHORT_COMMANDS = frozenset({"config", "rev-parse"})
_SILENT_SECONDS = 2  # after which it is looked for what git may be waiting for
_SEARCH_SECONDS = 5  # and for how long; Linux's 6,000 folders take 0.2
_PAUSE_SECONDS = 60  # git is not asked again in a folder where it hung

Overrides = tuple[tuple[bytes, bytes], ...]
"""Settings that win over those of any file, each a key and its value in git's own bytes."""

_SAFE_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.attributesFile=",  # a repository may name any file there, also one that never ends
    "core.fsmonitor=",  # both `false` and no program: git before 2.36 would run the program `false`
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=",
    "core.alternateRefsCommand=false",
    "core.excludesFile=",  # one user's own ignores would give each machine another answer
    "credential.helper=",
    "diff.external=",
    "fetch.bundleURI=",  # asked before the protocol is, by a git that does not know GIT_NO_LAZY_FETCH
    "protocol.allow=never",
    "submodule.recurse=false",
)
_SAFE_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # unlike protocol.allow, a repository cannot override this per protocol
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch what is missing
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit means what its id says
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # messages are compared
    "LANGUAGE": "",
}
# The caller's GIT_DIR, GIT_INDEX_FILE and the like (set inside a hook) would answer for another
# repository. System and user configuration stay: `safe.directory` is kept there.
_KEPT_VARIABLES = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_TEST_ASSUME_DIFFERENT_OWNER",  # can only make git stricter
    }
)
_found: dict[str, str] = {}  # by root: what git was found to be waiting for
_paused: dict[str, float] = {}  # by root: until when git is not asked
_FILTER_OFF = {b"clean": b"", b"smudge": b"", b"process": b"", b"required": b"false"}
_COMMON_FILTERS = frozenset({b"lfs"})  # on most machines the only one: with it one look is enough
_FILTER_LOOKS = 3  # the second sees what the first one named; one more for a setting that just changed


class GitProblem(StrEnum):
    """Why git cannot answer for a folder."""

    MISSING = "missing"
    NOT_A_REPOSITORY = "not_a_repository"
    DUBIOUS_OWNERSHIP = "dubious_ownership"
    ELSEWHERE = "elsewhere"
    IGNORED = "ignored"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    FAILED = "failed"


_MEANING = {
    GitProblem.MISSING: "the git program was not found",
    GitProblem.NOT_A_REPOSITORY: "the folder is in no git work tree",
    GitProblem.DUBIOUS_OWNERSHIP: "git refuses a repository that another user owns",
    GitProblem.ELSEWHERE: "the repository's work tree is another folder",
    GitProblem.IGNORED: "the repository around the folder ignores it",
    GitProblem.BLOCKED: "git would wait for ever for a file that is no regular file",
    GitProblem.TIMEOUT: "git did not answer in time",
    GitProblem.FAILED: "git failed",
}


_NAMING = (GitProblem.BLOCKED, GitProblem.TIMEOUT)  # what is said with these is about the user's own files


class GitUnusable(Unsupported):
    """git cannot answer here; a work tree is then walked without it, a ref cannot be read."""

    def __init__(self, problem: GitProblem, said: str = "") -> None:
        hint = "git config --global --add safe.directory <folder>" if "OWNERSHIP" in problem.name else ""
        named = f"{_MEANING[problem]}: {said}" if said and problem in _NAMING else _MEANING[problem]
        super().__init__(named, hint=hint, details={"problem": problem.value, "git": said})
        self.problem = problem


def command(args: Sequence[str]) -> list[str]:
    """The full command line."""
    found = shutil.which("git")
    if found is None or not os.path.isabs(found):
        raise GitUnusable(GitProblem.MISSING)  # one found in the current folder may be the repository's
    overrides = [part for setting in _SAFE_CONFIG for part in ("-c", setting)]
    return [found, "--no-pager", *overrides, *args]


def environment(outer: Mapping[str, str] | None = None, config: Overrides = ()) -> dict[str, str]:
    """The caller's environment without what would steer git elsewhere, and with further settings: a variable
    can spell any key, an argument only one without `=`."""
    kept = {
        name: value
        for name, value in (os.environ if outer is None else outer).items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    if config:
        kept["GIT_CONFIG_COUNT"] = str(len(config))
    for number, (key, value) in enumerate(config):
        kept[f"GIT_CONFIG_KEY_{number}"] = os.fsdecode(key)
        kept[f"GIT_CONFIG_VALUE_{number}"] = os.fsdecode(value)
    return kept | _SAFE_ENVIRONMENT


def run_git(
    root: Path,
    args: Sequence[str],
    *,
    config: Overrides = (),
    given: bytes = b"",
    timeout: float | None = None,
) -> bytes:
    """What git prints for `args` in the root when it is `given` that to read; GitUnusable with the reason
    if it fails."""
    limit = timeout or (_SHORT_SECONDS if args[0] in _SHORT_COMMANDS else TIMEOUT_SECONDS)
    _refuse_to_wait(root)
    _refuse_borrowed(root)
    try:
        process = subprocess.Popen(
            command(args),
            cwd=root,
            env=environment(config=config),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except (OSError, ValueError) as error:  # ValueError: a setting that this system's variables cannot hold
        raise GitUnusable(GitProblem.FAILED, str(error)) from error
    with process:
        try:
            said, complaint = _heard(process, root, given, limit)
        except BaseException as error:
            process.kill()
            if timeout is None and isinstance(error, GitUnusable) and error.problem is GitProblem.TIMEOUT:
                _paused[str(root)] = time.monotonic() + _PAUSE_SECONDS
            raise
    if process.returncode:
        raise _refusal(complaint.decode("utf-8", "replace").strip())
    return said


def _heard(process: subprocess.Popen[bytes], root: Path, given: bytes, limit: float) -> tuple[bytes, bytes]:
    """What a process prints to its two outputs within `limit` seconds. Once it has been silent for a while,
    the file is looked for that it may be waiting for."""
    started = time.monotonic()
    try:
        return process.communicate(given, timeout=min(limit, _SILENT_SECONDS))
    except subprocess.TimeoutExpired:
        found = git_folder.search_blocking_file(root, _SEARCH_SECONDS)
    if found:
        _found[str(root)] = found
        raise _blocked(root, found)
    try:
        return process.communicate(timeout=max(0, started + limit - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise GitUnusable(GitProblem.TIMEOUT, f"{limit:g} s") from error


def _refuse_to_wait(root: Path) -> None:
    """One command calls git several times: it waits for an answer that does not come once."""
    if time.monotonic() < _paused.get(str(root), 0):
        raise GitUnusable(GitProblem.TIMEOUT, f"it hung less than {_PAUSE_SECONDS} s ago")
    found = git_folder.find_blocking_file(root) or _found.get(str(root), "")
    if found and git_folder.would_block(found):
        raise _blocked(root, found)


def _refuse_borrowed(root: Path) -> None:
    """What another repository holds is not part of this folder, whatever its `.git` says."""
    for folder in (root.absolute(), *root.absolute().parents):
        if os.path.lexists(folder / ".git"):
            if git_folder.is_borrowed(str(folder)):
                raise GitUnusable(GitProblem.ELSEWHERE)
            return


def _blocked(root: Path, found: str) -> GitUnusable:
    return GitUnusable(GitProblem.BLOCKED, repr(os.path.relpath(found, root)))


def _refusal(said: str) -> GitUnusable:
    if "dubious ownership" in said:
        return GitUnusable(GitProblem.DUBIOUS_OWNERSHIP, said)
    if "not a git repository" in said or "must be run in a work tree" in said:
        return GitUnusable(GitProblem.NOT_A_REPOSITORY, said)
    return GitUnusable(GitProblem.FAILED, said)


def filters_off(root: Path) -> Overrides:
    """The settings without which comparing files in `root` could run a filter; GitUnusable if they do not
    reach."""
    names = _COMMON_FILTERS
    for _ in range(_FILTER_LOOKS):
        off = tuple(
            (b"filter.%b.%b" % (name, key), value)
            for name in sorted(names)
            for key, value in _FILTER_OFF.items()
        )
        switched_on = _active_filters(run_git(root, ["config", "--list", "-z"], config=off))
        if not switched_on:
            return off
        names |= switched_on
    raise GitUnusable(GitProblem.FAILED, "a filter cannot be switched off")


def _active_filters(listed: bytes) -> frozenset[bytes]:
    """The filters that a listing of settings, of which the last one of a name holds, gives anything to do."""
    settings = dict(_setting(record) for record in listed.split(b"\0") if record.startswith(b"filter."))
    found = set()
    for key, value in settings.items():
        name, dot, variable = key.removeprefix(b"filter.").rpartition(b".")
        if dot and value != _FILTER_OFF.get(
            variable, value
        ):  # without a dot it is no filter, only a variable
            found.add(name)
    return frozenset(found)


def _setting(record: bytes) -> tuple[bytes, bytes | None]:
    """Key and value; None where a key stands alone, which git takes for true."""
    key, line_end, value = record.partition(b"\n")
    return key, value if line_end else None
