"""Run git so that a hostile repository cannot make it execute anything.

The configuration of a repository can name programs: hooks, a file-system monitor, content filters,
transports, a pager. Each is switched off on the command line, which overrides the configuration. Content
filters have names that a repository chooses freely, so `filters_off` reads them from the configuration first.
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
_SHORT_SECONDS = (
    10  # for commands that only read settings and refs; an included setting may be a FIFO, which hangs too
)
_SHORT_COMMANDS = frozenset({"config", "rev-parse"})
_SILENCE_SECONDS = 2  # of silence, after which a file is searched for that git may be waiting for
_SEARCH_SECONDS = 5  # the limit of that search; the 6,000 folders of Linux take 0.2
_PAUSE_SECONDS = 60  # for which git is not called again in a folder where it hung

Overrides = tuple[tuple[bytes, bytes], ...]
"""Settings that win over those of any file, each a key and its value in git's own bytes."""
Setting = tuple[bytes, bytes, bytes | None]
"""A setting in force: where it comes from (`file:` and a path, or something else), its key and its value."""

_SAFE_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.attributesFile=",  # a repository may name any file here, also one that never ends
    "core.fsmonitor=",  # empty rather than `false`, which git before 2.36 would run as a program
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=",
    "core.alternateRefsCommand=false",
    "core.excludesFile=",  # the user's own ignore file would make answers differ between machines
    "credential.helper=",
    "diff.external=",
    "fetch.bundleURI=",  # an older git fetches the bundle before it checks the protocol
    "protocol.allow=never",
    "submodule.recurse=false",
)
# How git asks for credentials and reaches other machines.
_ASKING = ("core.askPass=", "core.sshCommand=", "credential.helper=", "protocol.allow=")
_ASKING_VARIABLES = frozenset({"GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO"})
_SAFE_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # unlike protocol.allow, a repository cannot override this per protocol
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch missing objects
    "GIT_NO_REPLACE_OBJECTS": "1",  # a replaced object would change what a commit id means
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # error messages are compared with English text
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
_blocking_files: dict[str, str] = {}  # by root: the file that git was found to be waiting for
_paused_until: dict[str, float] = {}  # by root: the time until which git is not called
_FILTER_OFF = {b"clean": b"", b"smudge": b"", b"process": b"", b"required": b"false"}
_COMMON_FILTERS = frozenset(
    {b"lfs"}
)  # the only filter on most machines; naming it at once saves a second look
_FILTER_LOOKS = (
    3  # the second look checks what the first one found; the third is for a setting that has just changed
)


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


_PROBLEM_MESSAGES = {
    GitProblem.MISSING: "the git program was not found",
    GitProblem.NOT_A_REPOSITORY: "the folder is in no git work tree",
    GitProblem.DUBIOUS_OWNERSHIP: "git refuses a repository that another user owns",
    GitProblem.ELSEWHERE: "the repository's work tree is another folder",
    GitProblem.IGNORED: "the repository around the folder ignores it",
    GitProblem.BLOCKED: "git would wait for ever for a file that is no regular file",
    GitProblem.TIMEOUT: "git did not answer in time",
    GitProblem.FAILED: "git failed",
}
# The detail of these problems is about the user's own files, so it is part of the message.
_PROBLEMS_WITH_DETAIL = (GitProblem.BLOCKED, GitProblem.TIMEOUT)


class GitUnusable(Unsupported):
    """git cannot answer for this folder. A work tree is then walked without git; a ref cannot be read."""

    def __init__(self, problem: GitProblem, said: str = "") -> None:
        hint = "git config --global --add safe.directory <folder>" if "OWNERSHIP" in problem.name else ""
        named = (
            f"{_PROBLEM_MESSAGES[problem]}: {said}"
            if said and problem in _PROBLEMS_WITH_DETAIL
            else _PROBLEM_MESSAGES[problem]
        )
        super().__init__(named, hint=hint, details={"problem": problem.value, "git": said})
        self.problem = problem


def command_line(args: Sequence[str], *, asking: bool = False) -> list[str]:
    """Return the full command line for git, with every setting that could run a program overridden. With
    `asking` git may ask for credentials as the user has set it up; only for a repository whose settings are
    our own."""
    found = shutil.which("git")
    if found is None or not os.path.isabs(found):
        # A git that is found in the current folder may belong to the repository.
        raise GitUnusable(GitProblem.MISSING)
    chosen = [setting for setting in _SAFE_CONFIG if not (asking and setting.startswith(_ASKING))]
    overrides = [part for setting in chosen for part in ("-c", setting)]
    return [found, "--no-pager", *overrides, *args]


def environment(
    outer: Mapping[str, str] | None = None, config: Overrides = (), *, protocol: str = ""
) -> dict[str, str]:
    """Return the caller's environment without variables that point git to another repository, and with the
    settings of `config` added. A variable can hold any key; a command-line argument cannot hold a key with
    `=`. Git may reach other repositories by the `protocol` alone, and by none without it."""
    wanted = _KEPT_VARIABLES | _ASKING_VARIABLES if protocol else _KEPT_VARIABLES
    kept = {
        name: value
        for name, value in (os.environ if outer is None else outer).items()
        if not name.startswith("GIT_") or name in wanted
    }
    if config:
        kept["GIT_CONFIG_COUNT"] = str(len(config))
    for number, (key, value) in enumerate(config):
        kept[f"GIT_CONFIG_KEY_{number}"] = os.fsdecode(key)
        kept[f"GIT_CONFIG_VALUE_{number}"] = os.fsdecode(value)
    return kept | _SAFE_ENVIRONMENT | {"GIT_ALLOW_PROTOCOL": protocol}


def run_git(
    root: Path,
    args: Sequence[str],
    *,
    config: Overrides = (),
    stdin: bytes = b"",
    timeout: float | None = None,
) -> bytes:
    """Return what git prints for `args` in the root, with `stdin` as its input. GitUnusable says why git
    failed."""
    limit = timeout or (_SHORT_SECONDS if args[0] in _SHORT_COMMANDS else TIMEOUT_SECONDS)
    _refuse_blocked(root)
    _refuse_foreign(root)
    try:
        process = subprocess.Popen(
            command_line(args),
            cwd=root,
            env=environment(config=config),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    # ValueError: a setting that cannot be written as an environment variable.
    except (OSError, ValueError) as error:
        raise GitUnusable(GitProblem.FAILED, str(error)) from error
    with process:
        try:
            said, complaint = _communicate(process, root, stdin, limit)
        except BaseException as error:
            process.kill()
            if timeout is None and isinstance(error, GitUnusable) and error.problem is GitProblem.TIMEOUT:
                _paused_until[str(root)] = time.monotonic() + _PAUSE_SECONDS
            raise
    if process.returncode:
        raise _refusal(complaint.decode("utf-8", "replace").strip())
    return said


def _communicate(
    process: subprocess.Popen[bytes], root: Path, stdin: bytes, limit: float
) -> tuple[bytes, bytes]:
    """Return what a process prints to its two outputs within `limit` seconds. If it is silent for a while,
    look for a file that it may be waiting for."""
    started = time.monotonic()
    try:
        return process.communicate(stdin, timeout=min(limit, _SILENCE_SECONDS))
    except subprocess.TimeoutExpired:
        found = git_folder.search_blocking_file(root, _SEARCH_SECONDS)
    if found:
        _blocking_files[str(root)] = found
        raise _blocked(root, found)
    try:
        return process.communicate(timeout=max(0, started + limit - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise GitUnusable(GitProblem.TIMEOUT, f"{limit:g} s") from error


def _refuse_blocked(root: Path) -> None:
    """Raise GitUnusable if git is known to hang in this root. A command calls git several times and should
    wait for it only once."""
    if time.monotonic() < _paused_until.get(str(root), 0):
        raise GitUnusable(GitProblem.TIMEOUT, f"it hung less than {_PAUSE_SECONDS} s ago")
    found = git_folder.find_blocking_file(root) or _blocking_files.get(str(root), "")
    if found and git_folder.would_block(found):
        raise _blocked(root, found)


def _refuse_foreign(root: Path) -> None:
    """Raise GitUnusable if `.git` of the root leads to another repository: its content is not part of this
    folder."""
    for folder in (root.absolute(), *root.absolute().parents):
        if os.path.lexists(folder / ".git"):
            if git_folder.is_foreign_git_folder(str(folder)):
                raise GitUnusable(GitProblem.ELSEWHERE)
            return


def _blocked(root: Path, found: str) -> GitUnusable:
    return GitUnusable(GitProblem.BLOCKED, repr(os.path.relpath(found, root)))


def _refusal(said: str) -> GitUnusable:
    """Return the error for a message that git printed."""
    if "dubious ownership" in said:
        return GitUnusable(GitProblem.DUBIOUS_OWNERSHIP, said)
    if "not a git repository" in said or "must be run in a work tree" in said:
        return GitUnusable(GitProblem.NOT_A_REPOSITORY, said)
    return GitUnusable(GitProblem.FAILED, said)


def filters_off(root: Path) -> Overrides:
    """Return the settings that switch off every content filter of the configuration.

    Git runs a filter when it compares a file on disk with its blob. Any attributes file can choose a filter,
    and its name may contain any byte, so every filter is given empty programs under its name as git spells
    it. The last check runs with exactly these settings. If it shows a filter that would still run (an older
    git cannot be told such names), GitUnusable is raised and nothing is compared.
    """
    return settings_without_filters(root)[0]


def settings_without_filters(root: Path) -> tuple[Overrides, list[Setting]]:
    """Return the settings that switch off every content filter, and all settings that are then in force."""
    names = _COMMON_FILTERS
    for _ in range(_FILTER_LOOKS):
        off = tuple(
            (b"filter.%b.%b" % (name, key), value)
            for name in sorted(names)
            for key, value in _FILTER_OFF.items()
        )
        listed = run_git(root, ["config", "--list", "--show-origin", "-z"], config=off).split(b"\0")
        settings = [
            (origin, *_setting(record)) for origin, record in zip(*[iter(listed[:-1])] * 2, strict=True)
        ]
        switched_on = _active_filters(settings)
        if not switched_on:
            return off, settings
        names |= switched_on
    raise GitUnusable(GitProblem.FAILED, "a filter cannot be switched off")


def _active_filters(settings: Sequence[Setting]) -> frozenset[bytes]:
    """Return the names of the filters that would run a program. The last setting of a key is the one that
    counts."""
    last = {key: value for _, key, value in settings if key.startswith(b"filter.")}
    found = set()
    for key, value in last.items():
        name, dot, variable = key.removeprefix(b"filter.").rpartition(b".")
        if dot and value != _FILTER_OFF.get(
            variable,
            value,
            # Without a dot the key is a plain variable, not one of a filter.
        ):
            found.add(name)
    return frozenset(found)


def _setting(record: bytes) -> tuple[bytes, bytes | None]:
    """Return the key and the value of a setting. The value is None for a key on its own, which git takes for
    true."""
    key, line_end, value = record.partition(b"\n")
    return key, value if line_end else None
