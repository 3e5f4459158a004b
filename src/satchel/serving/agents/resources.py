"""What can be read by address: chunks, files and the digest; and the digest as a prompt.

satchel://chunk/{+id}    satchel://file/{+path}    satchel://digest    (?project=NAME if several are served)
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, unquote

import msgspec

from satchel import plugins
from satchel.errors import ChunkNotFound, FileNotFound, InvalidRequest, SatchelError
from satchel.rendering.agent_text import render
from satchel.serving.agents.answer_parts import typed_data
from satchel.serving.call import Call
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request

SCHEME = "satchel://"
CHUNK, FILE, DIGEST = "chunk", "file", "digest"
PROMPT = "repository_digest"
TEXT = "text/plain"
_FETCH, _DESCRIBE = "get", "prompt"  # the commands that answer
_PROJECT = "?project="


class Address(msgspec.Struct, frozen=True):
    """What an address names: a kind of thing, its name, and in which project."""

    kind: str
    name: str
    project: str


class Unanswered(Exception):
    """A read that ended in an error, as the envelope says it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


def resource_list(projects: list[str]) -> list[dict[str, Any]]:
    """What can be read without knowing an id: the digest of each project."""
    several = len(projects) > 1
    return [
        {
            "uri": f"{SCHEME}{DIGEST}" + (f"{_PROJECT}{quote(name, safe='')}" if several else ""),
            "name": f"{DIGEST} of {name}" if several else DIGEST,
            "description": "what the documents say in short, and the ids to fetch the rest by",
            "mimeType": TEXT,
        }
        for name in projects
    ]


def template_list(projects: list[str]) -> list[dict[str, Any]]:
    """Everything else, by id or by path."""
    where = "{?project}" if len(projects) > 1 else ""
    return [
        {
            "uriTemplate": f"{SCHEME}{CHUNK}/{{+id}}{where}",
            "name": CHUNK,
            "description": "the exact lines of a chunk, by its id or as path:first:last",
            "mimeType": TEXT,
        },
        {
            "uriTemplate": f"{SCHEME}{FILE}/{{+path}}{where}",
            "name": FILE,
            "description": "a whole file of the index",
            "mimeType": TEXT,
        },
    ]


def prompt_list(projects: list[str]) -> list[dict[str, Any]]:
    """The digest, ready for a conversation."""
    named = {"name": "project", "description": f"one of {', '.join(projects)}", "required": True}
    budget = {"name": "budget_tokens", "description": "tokens it may take (default 2000)", "required": False}
    return [
        {
            "name": PROMPT,
            "description": "What is in this repository, in short, and how to fetch the rest",
            "arguments": [named, budget] if len(projects) > 1 else [budget],
        }
    ]


def parsed(uri: str) -> Address:
    """The parts of an address."""
    rest = uri.removeprefix(SCHEME)
    path, _, query = rest.partition("?")
    kind, _, name = path.partition("/")
    if rest == uri or kind not in (CHUNK, FILE, DIGEST) or bool(name) == (kind == DIGEST):
        raise InvalidRequest(f"{uri!r} is no address of this server", hint=f"{SCHEME}{CHUNK}/… is one")
    return Address(kind, unquote(name), parse_qs(query).get("project", [""])[0])


def read(dispatcher: Dispatcher, uri: str, call: Call) -> str:
    """The exact text at an address."""
    try:
        address = parsed(uri)
        if address.kind == DIGEST:
            return digest(dispatcher, address.project, {}, call)
        return _text_of(_asked(dispatcher, _FETCH, address.project, {"ids": [address.name]}, call), address)
    except SatchelError as error:
        raise Unanswered(error.as_dict()) from None
    except Unanswered as unanswered:
        if address.kind == FILE and unanswered.error["code"] == ChunkNotFound.code:
            raise Unanswered({**unanswered.error, "code": FileNotFound.code}) from None
        raise


def digest(dispatcher: Dispatcher, project: str, fields: dict[str, Any], call: Call) -> str:
    """The block that describes a project."""
    return render(_asked(dispatcher, _DESCRIBE, project, fields, call))


def prompt_fields(arguments: dict[str, str]) -> dict[str, Any]:
    """The arguments of a prompt are texts."""
    budget = arguments.get("budget_tokens", "").strip()
    if budget and not budget.isdecimal():
        raise InvalidRequest(f"budget_tokens is {budget!r}, it must be a number")
    return {"budget_tokens": int(budget)} if budget else {}


def _asked(dispatcher: Dispatcher, action: str, project: str, fields: dict[str, Any], call: Call) -> Any:
    payload = {**fields, **({"project": project} if project else {})}
    response = dispatcher.answer(Request(action, payload), call)
    if isinstance(response.error, dict):
        raise Unanswered(response.error)
    return typed_data(plugins.load("command", action), response)


def _text_of(found: Any, address: Address) -> str:
    if found.chunks:
        return "".join(chunk.text for chunk in found.chunks)
    detail = "; ".join(f"{item.asked}: {item.fate}, {item.detail}" for item in found.missing)
    error = FileNotFound if address.kind == FILE else ChunkNotFound
    raise error(f"there is no such {address.kind}: {detail}", hint="take ids from search")
