"""Copy a repository from a URL, and bring the copy up to date, so that its commits can be read as git
objects.

A copy has no work tree and takes nothing but objects, branches and tags: no hook, no setting and no submodule
of the repository reaches this machine. Credentials are those that git itself finds, in the helpers that the
user has set up or in the environment; what git says of a failure is told without them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from satchel.cancellation import CancelToken
from satchel.errors import ConfigError, Unsupported
from satchel.file_writing import make_folder
from satchel.walking.git_command import command_line, environment, run_git

HEAD = "refs/satchel/HEAD"  # the commit that the repository itself calls HEAD
_PROTOCOLS = ("file", "git", "http", "https", "ssh")
_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", f"+HEAD:{HEAD}")
_POLL_SECONDS = 0.2
_USER_INFO = re.compile(r"(?<=://)[^/@\s'\"]+@")


def update_mirror(url: str, folder: Path, token: CancelToken | None = None) -> None:
    """Copy a repository into a folder, or bring that copy up to date. A copy that is cut off stays as it
    was."""
    protocol = url.partition("://")[0].lower() if "://" in url else "ssh"
    if protocol not in _PROTOCOLS:
        raise Unsupported(
            f"a repository cannot be copied by {protocol!r}", hint=f"use one of {', '.join(_PROTOCOLS)}"
        )
    if not (folder / ".git").is_dir():
        make_folder(folder, what="the copy of a repository", elsewhere="name another folder: --library DIR")
        run_git(folder, ["init", "--quiet", "--template=", "."])
    _fetch(url, folder, protocol, token or CancelToken())


def _fetch(url: str, folder: Path, protocol: str, token: CancelToken) -> None:
    wanted = [
        "--quiet",
        "--prune",
        "--no-tags",
        "--force",
        "--update-head-ok",
        "--no-auto-gc",
        "--no-recurse-submodules",
    ]
    words = ["fetch", *wanted, "--end-of-options", url, *_REFS]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command_line(words, asking=True),
            cwd=folder,
            env=environment(protocol=protocol),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        with process:
            try:
                while process.poll() is None:
                    token.check()
                    try:
                        process.wait(_POLL_SECONDS)
                    except subprocess.TimeoutExpired:
                        continue
            except BaseException:
                process.kill()
                raise
        said.seek(0)
        complaint = said.read().decode("utf-8", "replace")
    if process.returncode:
        raise ConfigError(
            f"the repository could not be copied: {_without_credentials(complaint)}",
            hint="git must be able to fetch it without a question: see `git help credentials`",
        )


def _without_credentials(said: str) -> str:
    """Return the last line that git printed, without the user and password of a URL in it."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = next(
        (line for line in lines if line.startswith(("fatal:", "error:"))), (lines or ["git failed"])[-1]
    )
    return _USER_INFO.sub("", told)
