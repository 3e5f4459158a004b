"""What Satchel uses of libraries beyond their documented interface is still there, and is pinned.

Each of these tests stands for an upper bound in pyproject.toml: raise the bound when the test passes with the
newer library, and look at the named file when it does not.
"""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from threading import Event

import h11
import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("name", ["mcp", "tiktoken", "uvicorn", "watchfiles"])
def test_a_library_whose_internals_are_used_has_an_upper_bound(name: str) -> None:
    written = [
        *PROJECT["dependencies"],
        *(line for lines in PROJECT["optional-dependencies"].values() for line in lines),
    ]
    found = [line for line in written if line.startswith((f"{name}>", f"{name}<", f"{name}="))]
    assert found and all("<" in line for line in found)


def test_the_protocol_of_uvicorn_has_what_connections_extend() -> None:
    """serving/http: a connection ends if the head of a request does not come in time."""
    own = ("data_received", "on_response_complete", "connection_lost", "send_400_response")
    assert all(inspect.isfunction(getattr(H11Protocol, name, None)) for name in own)
    assert list(inspect.signature(H11Protocol.send_400_response).parameters) == ["self", "msg"]
    config = uvicorn.Config(lambda: None, http=H11Protocol, log_config=None)
    state = uvicorn.Server(config).server_state
    config.load()
    loop = _Loop()
    protocol = H11Protocol(config, state, {}, _loop=loop)
    assert protocol.loop is loop and protocol.cycle is None and isinstance(protocol.conn, h11.Connection)
    assert "response_complete" in inspect.getsource(H11Protocol)


def test_the_server_of_uvicorn_takes_its_signals_in_one_place() -> None:
    assert inspect.isgeneratorfunction(inspect.unwrap(uvicorn.Server.capture_signals))
    inspect.signature(uvicorn.Server.handle_exit).bind(object(), 2, None)  # as a handler of signals is called


def test_the_compiled_half_of_tiktoken_counts_by_itself() -> None:
    """tokenizers/byte_pairs.py loads it alone and hands it a vocabulary of its own."""
    from tiktoken._tiktoken import CoreBPE

    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    core = CoreBPE(ranks, {}, r"\w+|\s+")
    assert core.encode_ordinary("ab a") == [256, 32, 97]
    assert core.encode_single_piece(b"abab") == [256, 256]


def test_the_compiled_half_of_watchfiles_reports_changes(tmp_path: Path) -> None:
    """serving: the watcher of an index takes raw events, without the filters of the package around it."""
    from watchfiles._rust_notify import RustNotify

    watcher = RustNotify([str(tmp_path)], False, False, 300, True, True)
    (tmp_path / "new.txt").write_text("new")
    found = watcher.watch(100, 10, 5000, Event())
    watcher.close()
    assert (1, str(tmp_path / "new.txt")) in found


class _Loop:
    """What a protocol asks its loop for while it is made."""

    def call_later(self, *_: object) -> None:
        return None
