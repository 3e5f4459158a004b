"""How is a language server asked? A small client of the Language Server Protocol over pipes.

Hand-written instead of `pygls` or `pytest-lsp`: four requests in sequence need about a hundred lines, and
the benchmark adds no dependency. To be dropped when a second kind of conversation is needed.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import unquote, urlparse

from graph.truth import Place

_ANSWER_SECONDS = 300
_CAPABILITIES = {
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "inactiveRegionsCapabilities": {"inactiveRegions": True},  # an extension of clangd
    },
    "workspace": {"configuration": True, "workspaceFolders": True},
    "window": {"workDoneProgress": True},
}


class LanguageServer:
    """One running server for one folder. Positions go in and out as `Place`."""

    def __init__(
        self, command: Sequence[str], root: Path, language: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        self._root = root.resolve()
        self._language = language
        self._settings = settings or {}
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._progress: dict[str, str] = {}
        self._opened: set[str] = set()
        # Lines that the preprocessor leaves out, by file, as far as the server reported them.
        self.inactive: dict[str, list[tuple[int, int]]] = {}
        self._process = subprocess.Popen(
            command,
            cwd=self._root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        folder = {"uri": self._root.as_uri(), "name": self._root.name}
        self._ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": _CAPABILITIES,
            },
        )
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": self._settings})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def has_ended(self, task: str) -> bool:
        """Return whether the server reported the end of one of its long tasks."""
        return self._progress.get(task) == "end"

    def open(self, path: str) -> None:
        """Tell the server the text of a file, once."""
        if path in self._opened:
            return
        self._opened.add(path)
        document = {
            "uri": (self._root / path).as_uri(),
            "languageId": self._language,
            "version": 1,
            "text": (self._root / path).read_text("utf-8", "replace"),
        }
        self._tell("textDocument/didOpen", {"textDocument": document})

    def close(self, path: str) -> None:
        """Tell the server that a file is not needed any more."""
        if path in self._opened:
            self._opened.discard(path)
            self._tell("textDocument/didClose", {"textDocument": {"uri": (self._root / path).as_uri()}})

    def outline(self, path: str) -> list[tuple[str, Place]]:
        """Return the names that a file defines, with their positions."""
        self.open(path)
        document = {"textDocument": {"uri": (self._root / path).as_uri()}}
        return list(_flat(self._ask("textDocument/documentSymbol", document) or [], path))

    def references(self, place: Place) -> list[Place]:
        """Return every use of what is defined at a position, inside the folder and without the definition."""
        context = {"context": {"includeDeclaration": False}}
        return self._places(self._ask("textDocument/references", {**self._position(place), **context}))

    def definition(self, place: Place) -> list[Place] | None:
        """Return where the name at a position is defined inside the folder; None if the server knows of no
        definition at all."""
        found = self._ask("textDocument/definition", self._position(place))
        return self._places(found) if found else None

    def links(self, path: str) -> list[tuple[int, str]]:
        """Return the lines of a file that name other files of the folder, with their paths."""
        self.open(path)
        document = {"textDocument": {"uri": (self._root / path).as_uri()}}
        found = []
        for link in self._ask("textDocument/documentLink", document) or []:
            target = Path(unquote(urlparse(link.get("target") or "").path))
            if target.is_relative_to(self._root):
                line = link["range"]["start"]["line"] + 1
                found.append((line, target.relative_to(self._root).as_posix()))
        return found

    def _position(self, place: Place) -> dict[str, Any]:
        self.open(place.path)
        return {
            "textDocument": {"uri": (self._root / place.path).as_uri()},
            "position": {"line": place.line - 1, "character": place.column},
        }

    def _places(self, found: Any) -> list[Place]:
        places = set()
        for item in [found] if isinstance(found, dict) else found or []:
            path = Path(unquote(urlparse(item.get("uri") or item["targetUri"]).path))
            start = (item.get("range") or item["targetSelectionRange"])["start"]
            if path.is_relative_to(self._root):
                name = path.relative_to(self._root).as_posix()
                places.add(Place(name, start["line"] + 1, start["character"]))
        return sorted(places)

    def _ask(self, method: str, parameters: Mapping[str, Any]) -> Any:
        number = len(self._answers) + 1
        self._answers[number] = queue.Queue()
        self._send({"id": number, "method": method, "params": parameters})
        message = self._answers[number].get(timeout=_ANSWER_SECONDS)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def _tell(self, method: str, parameters: Mapping[str, Any]) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: Mapping[str, Any]) -> None:
        pipe: IO[bytes] | None = self._process.stdin
        assert pipe is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        pipe.flush()

    def _listen(self) -> None:
        """Sort what the server says until it ends: its answers, its reports, and its own questions."""
        pipe: IO[bytes] | None = self._process.stdout
        assert pipe is not None
        while (message := _next_message(pipe)) is not None:
            if "method" not in message:
                self._answers[message["id"]].put(message)
            elif "id" in message:
                with contextlib.suppress(BrokenPipeError):
                    self._send({"id": message["id"], "result": self._reply(message)})
            elif message["method"] == "$/progress":
                parameters = message["params"]
                self._progress[str(parameters["token"])] = parameters["value"].get("kind", "")
            elif message["method"] == "textDocument/inactiveRegions":
                self._note_inactive(message["params"])

    def _reply(self, message: Mapping[str, Any]) -> Any:
        """Return the answer to a question of the server: it only asks for settings."""
        if message["method"] != "workspace/configuration":
            return None
        return [self._setting(item.get("section", "")) for item in message["params"]["items"]]

    def _note_inactive(self, parameters: Mapping[str, Any]) -> None:
        path = Path(unquote(urlparse(parameters["textDocument"]["uri"]).path))
        if path.is_relative_to(self._root):
            self.inactive[path.relative_to(self._root).as_posix()] = [
                (region["start"]["line"] + 1, region["end"]["line"] + 1) for region in parameters["regions"]
            ]

    def _setting(self, section: str) -> Any:
        value: Any = self._settings
        for part in section.split("."):
            value = value.get(part, {}) if isinstance(value, Mapping) else {}
        return value


def _next_message(pipe: IO[bytes]) -> dict[str, Any] | None:
    """Read one message; None at the end."""
    length = 0
    while (line := pipe.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    message: dict[str, Any] | None = json.loads(pipe.read(length)) if line else None
    return message


def _flat(symbols: Sequence[Mapping[str, Any]], path: str) -> list[tuple[str, Place]]:
    """Return the symbols of an outline and those inside them."""
    found = []
    for symbol in symbols:
        start = symbol["selectionRange"]["start"]
        found.append((symbol["name"], Place(path, start["line"] + 1, start["character"])))
        found += _flat(symbol.get("children") or [], path)
    return found
