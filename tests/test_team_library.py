"""The page for operators does what it says: its commands are run in their order, its unit starts the server,
nginx and systemd read what it gives them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import clean_environment, git, git_repo

PAGE = (Path(__file__).parent.parent / "docs" / "team-library.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOKEN = "the-token-of-the-server"


def blocks(kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall(PAGE) if found == kind]


def units() -> dict[str, str]:
    """The files of systemd, by name."""
    return {text.splitlines()[0].rpartition("/")[2]: text for text in blocks("ini")}


class Machine:
    """The machine of an operator, in a folder: its paths, its programs, and two repositories to clone."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._programs = base / "programs"
        self._programs.mkdir()
        for name, text in {
            "sudo": 'shift 2\nexec "$@"',
            "satchel": f'exec {shlex.quote(sys.executable)} -m satchel "$@"',
            "python3": f'exec {shlex.quote(sys.executable)} "$@"',
        }.items():
            (self._programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (self._programs / name).chmod(0o755)
        (base / "srv").mkdir()
        for group, name in (("web", "shop"), ("core", "till")):
            git_repo(base / name, {f"{name}.py": f"def open_{name}():\n    return '{name}'\n"})
            git(base, "clone", "-q", "--bare", str(base / name), str(base / group / f"{name}.git"))

    def here(self, text: str) -> str:
        """Return a text of the page with the paths of this machine."""
        text = re.sub(r"https://git\.example\.org/(\w+)/(\w+)\.git", rf"file://{self.base}/\1/\2.git", text)
        text = text.replace("/usr/local/bin/satchel", str(self._programs / "satchel"))
        return text.replace("/srv/satchel", f"{self.base}/srv").replace("/var/log/satchel", str(self.base))

    def run(self, block: str, **variables: str) -> str:
        path = f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.here(block)],
            env=clean_environment({"PATH": path, **variables}),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.terminate()
        process.wait(20)
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.skipif(not shutil.which("bash") or not shutil.which("curl"), reason="bash and curl are needed")
def test_two_repositories_are_served_with_rights_by_the_letter_of_the_page(
    machine: Machine, started: list[subprocess.Popen[bytes]]
) -> None:
    make, tokens, check, backup = blocks("sh")
    assert "shop" in machine.run(make) and "till" in machine.run(
        "sudo -u satchel satchel library list --library /srv/satchel/library"
    )
    secrets = re.findall(r"^satchel_\S+$", machine.run(tokens), re.MULTILINE)
    assert len(secrets) == 2
    unit = machine.here(units()["satchel.service"])
    words = shlex.split(re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)[0])
    words[words.index("8640")] = "0"
    given = dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", unit, re.MULTILINE))
    process = subprocess.Popen(
        [*words, "--json", "--workers", "1"],
        env=clean_environment({**given, "SATCHEL_TOKEN": TOKEN}),
        stdout=subprocess.PIPE,
    )
    started.append(process)
    assert process.stdout is not None
    port = json.loads(process.stdout.readline())["port"]
    said = machine.run(check.replace("8640", str(port)), WEB_TEAM=secrets[0], SATCHEL_TOKEN=TOKEN)
    health, files, ready = (json.loads(part) for part in re.split(r"(?<=\})(?=\{)", said.replace("\n", "")))
    assert health["status"] == "ok" and ready["ready"]
    assert [one["path"] for one in files["data"]["files"]] == ["shop/shop.py"]
    assert '"who":"web-team"' in (machine.base / "audit.log").read_text()
    machine.run(backup)
    before = (machine.base / "srv" / "library" / "catalogue.db").read_bytes()
    assert (machine.base / "srv" / "catalogue.backup").is_file() and before
    assert len(json.loads((machine.base / "srv" / "repositories.json").read_text())["repositories"]) == 2


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_reads_the_units(machine: Machine) -> None:
    assert set(units()) == {
        "satchel.service",
        "satchel-sync.service",
        "satchel-sync.timer",
        "satchel-worker.service",
    }
    for name, text in units().items():
        (machine.base / name).write_text(machine.here(text).replace("User=satchel", "User=root"))
    paths = [str(machine.base / name) for name in units()]
    done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, timeout=60)
    complaints = [line for line in done.stderr.splitlines() if str(machine.base) in line or "satchel" in line]
    assert not complaints


@pytest.mark.skipif(not shutil.which("nginx") or not shutil.which("openssl"), reason="nginx is not installed")
def test_nginx_reads_its_server(machine: Machine) -> None:
    base = machine.base
    subject = [
        "-subj",
        "/CN=context.example.org",
        "-keyout",
        str(base / "key.pem"),
        "-out",
        str(base / "cert.pem"),
    ]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject],
        check=True,
        capture_output=True,
    )
    (text,) = blocks("nginx")
    text = text.replace("/etc/ssl/certs/context.example.org.pem", str(base / "cert.pem"))
    text = text.replace("/etc/ssl/private/context.example.org.key", str(base / "key.pem"))
    whole = f"pid {base}/nginx.pid;\nerror_log {base}/error.log;\nevents {{}}\nhttp {{ access_log off;\n{text}}}\n"
    (base / "nginx.conf").write_text(whole)
    done = subprocess.run(
        ["nginx", "-t", "-p", str(base), "-c", str(base / "nginx.conf")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
