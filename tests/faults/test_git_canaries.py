"""Nothing that a repository names in its git settings is run, whatever is asked of it.

One repository names a program wherever git takes one, each time with a word of its own; a program that runs
writes its word down. Each command is run once, and what is written tells which setting was obeyed.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from builders import clean_environment, git, git_repo

from satchel.serving.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the canary is a shell script")

NAMES = (
    b"plain",
    b"\xff",
    b"l\xe4tin",
    b"e=q",
    b'q\\"uote',
    b"back\\\\slash",
    b"",
    b"UPPER",
    b"a.b",
    b"s p",
    b"#",
)
HOOKS = (
    *("fsmonitor-watchman", "post-checkout", "post-index-change", "post-rewrite", "pre-auto-gc"),
    *("pre-commit", "proc-receive", "reference-transaction", "sendemail-validate", "post-merge"),
)
PLAIN_KEYS = (
    *("alias.cat-file", "alias.config", "alias.diff-index", "alias.diff-tree", "alias.hash-object"),
    *("alias.ls-files", "alias.ls-tree", "alias.merge-base", "alias.rev-list", "alias.rev-parse"),
    *("alias.status", "core.alternateRefsCommand", "core.askPass", "core.editor", "core.gitProxy"),
    *("core.pager", "core.sshCommand", "credential.helper", "credential.https://example.org.helper"),
    *("diff.external", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "gui.program"),
    *("interactive.diffFilter", "man.x.cmd", "pager.cat-file", "pager.config", "pager.diff-index"),
    *("pager.diff-tree", "pager.ls-files", "pager.rev-list", "pager.status", "protocol.x.program"),
    *("remote.origin.receivepack", "remote.origin.uploadpack", "remote.origin.vcs", "sequence.editor"),
    *("submodule.sub.update", "trailer.see.cmd", "trailer.see.command", "uploadpack.packObjectsHook"),
    *(
        "web.browser",
        "browser.x.cmd",
        "sendemail.smtpserver",
        "merge.tool",
        "mergetool.x.cmd",
        "difftool.x.cmd",
    ),
)
SETTINGS = b"""[core]
	repositoryFormatVersion = 1
	attributesFile = %(git)b/more-attributes
	hooksPath = %(git)b/more-hooks
	fsmonitor = %(fsmonitor)b
	untrackedCache = true
[extensions]
	partialClone = origin
	worktreeConfig = true
[remote "origin"]
	url = ext::%(trap)b remote-ext
	promisor = true
	partialclonefilter = blob:none
[url "ext::%(trap)b insteadOf "]
	insteadOf = https://
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[fetch]
	bundleURI = https://127.0.0.1:9/none
[log]
	showSignature = true
[status]
	submoduleSummary = true
	showStash = true
[submodule]
	recurse = true
[diff]
	submodule = log
	ignoreSubmodules = none
[include]
	path = more-settings
[includeIf "gitdir:**"]
	path = settings-of-a-folder
[includeIf "onbranch:**"]
	path = settings-of-a-branch
"""
FILES = {
    "a.py": "def alpha():\n    return 1\n",
    "b.py": "def beta():\n    return alpha()\n",
    "gone.py": "def gone():\n    return 3\n",
    "z.py": "def zeta():\n    return 4\n",
    "README.md": "# Alpha\n\nWhat alpha does.\n",
}


class Trap(NamedTuple):
    """A repository that names programs, and what those that ran have written."""

    root: Path
    written: Path
    fsmonitor: str

    def sprung(self) -> list[str]:
        return sorted(set(self.written.read_text().split("\n")) - {""}) if self.written.exists() else []

    def stir(self) -> None:
        """Make git compare contents: the files look changed, one is, and one is staged."""
        for number, path in enumerate(sorted(self.root.glob("*.*"))):
            os.utime(path, (10**9 + number, 10**9 + number))
        (self.root / "b.py").write_text(f"def beta():\n    return {time.time_ns()}\n")


def spellable(name: bytes) -> bool:
    """Whether `git -c` can spell the name in a key: an older Satchel compared nothing where it cannot."""
    return bool(name) and b"=" not in name


def drivers(kind: bytes, programs: tuple[bytes, ...], trap: bytes, where: bytes, every: bool) -> bytes:
    """Sections of one kind under every name, each with programs of its own."""
    lines = []
    for number, name in enumerate(NAMES):
        if not every and not spellable(name):
            continue
        lines.append(b'[%b "%b"]' % (kind, name))
        lines += [b'\t%b = "%b %b-%d-%b-%b"' % (key, trap, kind, number, where, key) for key in programs]
    return b"\n".join(lines) + b"\n"


def all_drivers(trap: bytes, where: bytes, every: bool) -> bytes:
    lasting = b'[filter "plain"]\n\trequired = true\n\tprocess = %b filter-0-%b-process\n' % (trap, where)
    return (
        drivers(b"filter", (b"clean", b"smudge"), trap, where, every)
        + drivers(b"diff", (b"command", b"textconv"), trap, where, every)
        + drivers(b"merge", (b"driver",), trap, where, every)
        + lasting
    )


def plain_setting(key: str, program: str) -> str:
    section, _, rest = key.partition(".")
    name, dot, variable = rest.rpartition(".")
    mark = "!" if section in ("alias", "credential", "submodule") else ""
    heading = f'{section} "{name}"' if dot else section
    return f"[{heading}]\n\t{variable} = {mark}{program}\n"


def attributes() -> bytes:
    """Every driver is chosen by some file, the odd ones by all that are asked about most."""
    unquoted = [name.replace(b"\\\\", b"\0").replace(b"\\", b"").replace(b"\0", b"\\") for name in NAMES]
    usable = [name for name in unquoted if b" " not in name]
    rows = [b"* filter=%b diff=%b merge=%b" % (name, name, name) for name in usable[::-1]]
    rows += [
        b"%b filter=%b diff=%b merge=%b" % (path, name, name, name)
        for path, name in zip(
            (b"a.py", b"gone.py", b"README.md", b"z.py"),
            (b"\xff", b"e=q", b"l\xe4tin", b"plain"),
            strict=True,
        )
    ]
    return b"\n".join(rows) + b"\n"


@pytest.fixture(scope="module", params=["program", "daemon"])  # the two forms of fsmonitor
def trap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trap:
    base = tmp_path_factory.mktemp("canary")
    root, written = git_repo(base / "project", FILES), base / "written"
    for number in range(3):
        (root / "a.py").write_text(f"def alpha():\n    return {number}\n")
        git(root, "commit", "-q", "-a", "-m", f"alpha gives {number}, which the caller of alpha needs")
    blob = git(root, "rev-parse", "HEAD:gone.py").strip()
    script = base / "trap.sh"
    script.write_text(f"#!/bin/sh\necho \"$1\" >> '{written}'\ncat 2>&-\n")
    script.chmod(0o755)
    set_traps(root, os.fsencode(script), request.param)
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()  # a remote has promised it
    return Trap(root, written, request.param)


def set_traps(root: Path, script: bytes, fsmonitor: str) -> None:
    git_folder = root / ".git"
    monitor = b"true" if fsmonitor == "daemon" else b'"%b fsmonitor"' % script
    settings = SETTINGS % {b"git": os.fsencode(git_folder), b"trap": script, b"fsmonitor": monitor}
    places = {
        "config": git_folder / "config",
        "include": git_folder / "more-settings",
        "folder": git_folder / "settings-of-a-folder",
        "branch": git_folder / "settings-of-a-branch",
        "worktree": git_folder / "config.worktree",
    }
    for where, place in places.items():
        place.write_bytes(
            (settings if where == "config" else b"")
            + all_drivers(script, where.encode(), fsmonitor == "program")
        )
        with place.open("a") as stream:
            stream.writelines(
                plain_setting(key, f"{os.fsdecode(script)} {key}-{where}") for key in PLAIN_KEYS
            )
    for folder in (git_folder / "hooks", git_folder / "more-hooks"):
        folder.mkdir(exist_ok=True)
        for hook in HOOKS:
            (folder / hook).write_bytes(b"#!/bin/sh\n%b hook-%b\n" % (script, hook.encode()))
            (folder / hook).chmod(0o755)
    for place in (root / ".gitattributes", git_folder / "info/attributes", git_folder / "more-attributes"):
        place.write_bytes(attributes())


QUESTION = "what does alpha return"
COMMANDS = {
    "index": ["index"],
    "search": ["search", QUESTION],
    "pack": ["pack", QUESTION],
    "pack --ref": ["pack", QUESTION, "--ref", "HEAD~1"],
    "pack --diff": ["pack", "--diff", "HEAD~2..HEAD"],
    "pack --diff to the files": ["pack", "--diff", "HEAD~1"],
    "pack --changed": ["pack", "--changed"],
    "pack --staged": ["pack", "--staged"],
    "status": ["status", "--json"],
    "doctor": ["doctor"],
    "build": ["build"],
    "grep": ["grep", "alpha"],
    "grep --ref": ["grep", "alpha", "--ref", "HEAD~1"],
    "map": ["map"],
    "symbols --ref": ["symbols", "alpha", "--ref", "HEAD~1"],
    "refs": ["refs", "alpha"],
    "impact": ["impact", "alpha"],
    "impact --diff": ["impact", "--diff", "HEAD~1"],
    "onboard": ["onboard"],
    "recall": ["recall", QUESTION],
    "eval --history": ["eval", "--history", "2"],
}


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    heard = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        said = io.StringIO()
        yield said
        heard.flush()
        heard.seek(0)
        said.write(heard.read())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_no_program_of_the_repository(trap: Trap, command: str) -> None:
    trap.stir()
    with quiet() as said:
        code = main([*COMMANDS[command], "--segment", str(trap.root)])
    assert trap.sprung() == []
    assert code in (0, 2) if command == "eval --history" else code == 0, said.getvalue()
    if command == "status":
        assert '"kind":"git"' in said.getvalue().replace(" ", "")  # git was asked, and did compare


def test_verify_runs_no_program_of_the_repository(trap: Trap, tmp_path: Path) -> None:
    with quiet() as said:
        assert main(["pack", QUESTION, "--segment", str(trap.root), "--format", "json"]) == 0
    (tmp_path / "pack.json").write_text(said.getvalue())
    for more in ([], ["--ref", "HEAD"]):
        trap.stir()
        with quiet():
            main(["verify", str(tmp_path / "pack.json"), "--segment", str(trap.root), *more])
    assert trap.sprung() == []


def test_the_viewer_runs_no_program_of_the_repository(trap: Trap, tmp_path: Path) -> None:
    trap.stir()
    with quiet() as said:
        code = main(["view", QUESTION, "--html", str(tmp_path / "page.html"), "--segment", str(trap.root)])
    assert trap.sprung() == []
    assert code == 0 and (tmp_path / "page.html").is_file(), said.getvalue()


def test_what_stays_runs_no_program_of_the_repository(trap: Trap) -> None:
    trap.stir()
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "satchel", *words, "--segment", str(trap.root)],
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for words in (("watch",), ("serve", "mcp"), ("serve", "http", "--port", "0"))
        if trap.fsmonitor == "program"
    ]
    time.sleep(3 if started else 0)  # by then each has looked at everything, and begun to watch
    for process in started:
        process.kill()
        process.communicate()
    assert trap.sprung() == []


def test_the_canaries_sing_where_git_is_asked_as_a_user_would(trap: Trap) -> None:
    """Last of all: without our options the same repository does run programs, one for each kind of name."""
    trap.stir()
    for words in (["status"], ["diff", "HEAD~1", "HEAD"], ["diff", "--no-ext-diff", "HEAD~1", "HEAD"]):
        subprocess.run(["git", *words], cwd=trap.root, capture_output=True, check=False, timeout=20)
    sung = trap.sprung()
    trap.written.unlink()
    kinds = {word.rpartition("-worktree-")[0] or word for word in sung}
    named = {"filter-0", "filter-1", "filter-2", "diff-1"}  # plain, \xff, latin-1
    assert kinds >= (named | {"filter-3", "fsmonitor"} if trap.fsmonitor == "program" else named), sung
