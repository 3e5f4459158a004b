"""How is git called so that a hostile repository cannot make it run anything?

A repository's own configuration can name programs: hooks, a file-system monitor, content filters,
transports, a pager. Each is switched off on the command line, which wins over the configuration.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from satchel.errors import Unsupported

TIMEOUT_SECONDS = 60  # the largest public trees list in a second; more is a hang (a FIFO as .gitignore)

_SAFE_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=",
    "core.alternateRefsCommand=false",
    "core.excludesFile=",  # one user's own ignores would give each machine another answer
    "credential.helper=",
    "diff.external=",
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


class GitProblem(StrEnum):
    """Why git cannot answer for a folder."""

    MISSING = "missing"
    NOT_A_REPOSITORY = "not_a_repository"
    DUBIOUS_OWNERSHIP = "dubious_ownership"
    ELSEWHERE = "elsewhere"
    IGNORED = "ignored"
    TIMEOUT = "timeout"
    FAILED = "failed"


_MEANING = {
    GitProblem.MISSING: "the git program was not found",
    GitProblem.NOT_A_REPOSITORY: "the folder is in no git work tree",
    GitProblem.DUBIOUS_OWNERSHIP: "git refuses a repository that another user owns",
    GitProblem.ELSEWHERE: "the repository's work tree is another folder",
    GitProblem.IGNORED: "the repository around the folder ignores it",
    GitProblem.TIMEOUT: f"git took more than {TIMEOUT_SECONDS} s",
    GitProblem.FAILED: "git failed",
}


class GitUnusable(Unsupported):
    """git cannot answer here; a work tree is then walked without it, a ref cannot be read."""

    def __init__(self, problem: GitProblem, said: str = "") -> None:
        hint = "git config --global --add safe.directory <folder>" if "OWNERSHIP" in problem.name else ""
        super().__init__(_MEANING[problem], hint=hint, details={"problem": problem.value, "git": said})
        self.problem = problem


def command(args: Sequence[str], config: Sequence[str] = ()) -> list[str]:
    """The full command line; `config` are further `key=value` overrides."""
    found = shutil.which("git")
    if found is None or not os.path.isabs(found):
        raise GitUnusable(GitProblem.MISSING)  # one found in the current folder may be the repository's
    overrides = [part for setting in (*_SAFE_CONFIG, *config) for part in ("-c", setting)]
    return [found, "--no-pager", *overrides, *args]


def environment(outer: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without what would steer git elsewhere."""
    kept = {
        name: value
        for name, value in (os.environ if outer is None else outer).items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    return kept | _SAFE_ENVIRONMENT


def run_git(
    root: Path,
    args: Sequence[str],
    *,
    config: Sequence[str] = (),
    given: bytes = b"",
    timeout: float = TIMEOUT_SECONDS,
) -> bytes:
    """What git prints for `args` in the root when it is `given` that to read; GitUnusable with the reason
    if it fails."""
    try:
        done = subprocess.run(
            command(args, config),
            cwd=root,
            env=environment(),
            input=given,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitUnusable(GitProblem.TIMEOUT) from error
    except OSError as error:
        raise GitUnusable(GitProblem.FAILED, str(error)) from error
    if done.returncode:
        raise _refusal(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def _refusal(said: str) -> GitUnusable:
    if "dubious ownership" in said:
        return GitUnusable(GitProblem.DUBIOUS_OWNERSHIP, said)
    if "not a git repository" in said or "must be run in a work tree" in said:
        return GitUnusable(GitProblem.NOT_A_REPOSITORY, said)
    return GitUnusable(GitProblem.FAILED, said)
