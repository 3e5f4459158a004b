"""MCP resources: chunks, files and the digest of a project by URI; and the digest as an MCP prompt.

satchel://chunk/{+id}    satchel://file/{+path}    satchel://digest    (?project=NAME if several are served)
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, unquote

import msgspec

from satchel import plugins
from satchel.errors import ChunkNotFound, FileNotFound, InvalidRequest, SatchelError
from satchel.rendering.agent_text import render
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Request
from satchel.serving.mcp.results import typed_data

SCHEME = "satchel://"
CHUNK, FILE, DIGEST = "chunk", "file", "digest"
PROMPT = "repository_digest"
TEXT = "text/plain"
_GET_COMMAND, _DIGEST_COMMAND = "get", "prompt"  # the commands that answer
_PROJECT = "?project="


class ResourceAddress(msgspec.Struct, frozen=True):
    """The parts of a resource URI: the kind of resource, its id or path, and the project."""

    kind: str
    name: str
    project: str


class ResourceError(Exception):
    """A read that failed, with the error as the envelope has it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


def resource_list(projects: list[str]) -> list[dict[str, Any]]:
    """Return the resources that can be read without an id: the digest of each project."""
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
    """Return the URI templates of chunks by id and files by path."""
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
    """Return the prompts: the digest of a project, ready for a conversation."""
    named = {"name": "project", "description": f"one of {', '.join(projects)}", "required": True}
    budget = {"name": "budget_tokens", "description": "tokens it may take (default 2000)", "required": False}
    return [
        {
            "name": PROMPT,
            "description": "What is in this repository, in short, and how to fetch the rest",
            "arguments": [named, budget] if len(projects) > 1 else [budget],
        }
    ]


def parse_uri(uri: str) -> ResourceAddress:
    """Parse the URI of a resource."""
    rest = uri.removeprefix(SCHEME)
    path, _, query = rest.partition("?")
    kind, _, name = path.partition("/")
    if rest == uri or kind not in (CHUNK, FILE, DIGEST) or bool(name) == (kind == DIGEST):
        raise InvalidRequest(f"{uri!r} is no address of this server", hint=f"{SCHEME}{CHUNK}/… is one")
    return ResourceAddress(kind, unquote(name), parse_qs(query).get("project", [""])[0])


def read_resource(dispatcher: Dispatcher, uri: str, call: Call) -> str:
    """Return the exact text of a resource."""
    try:
        address = parse_uri(uri)
        if address.kind == DIGEST:
            return read_digest(dispatcher, address.project, {}, call)
        return _exact_text(
            _run_command(dispatcher, _GET_COMMAND, address.project, {"ids": [address.name]}, call), address
        )
    except SatchelError as error:
        raise ResourceError(error.as_dict()) from None
    except ResourceError as failed:
        if address.kind == FILE and failed.error["code"] == ChunkNotFound.code:
            raise ResourceError({**failed.error, "code": FileNotFound.code}) from None
        raise


def read_digest(dispatcher: Dispatcher, project: str, fields: dict[str, Any], call: Call) -> str:
    """Return the text that describes a project."""
    return render(_run_command(dispatcher, _DIGEST_COMMAND, project, fields, call))


def prompt_fields(arguments: dict[str, str]) -> dict[str, Any]:
    """Parse the arguments of a prompt, which are always texts."""
    budget = arguments.get("budget_tokens", "").strip()
    if budget and not budget.isdecimal():
        raise InvalidRequest(f"budget_tokens is {budget!r}, it must be a number")
    return {"budget_tokens": int(budget)} if budget else {}


def _run_command(
    dispatcher: Dispatcher, action: str, project: str, fields: dict[str, Any], call: Call
) -> Any:
    """Run a command and return its typed data; raise if it fails."""
    payload = {**fields, **({"project": project} if project else {})}
    response = dispatcher.answer(Request(action, payload), call)
    if isinstance(response.error, dict):
        raise ResourceError(response.error)
    return typed_data(plugins.load("command", action), response)


def _exact_text(found: Any, address: ResourceAddress) -> str:
    """Return the lines of the chunks that `get` found; raise if it found none."""
    if found.chunks:
        return "".join(chunk.text for chunk in found.chunks)
    detail = "; ".join(f"{item.asked}: {item.fate}, {item.detail}" for item in found.missing)
    error = FileNotFound if address.kind == FILE else ChunkNotFound
    raise error(f"there is no such {address.kind}: {detail}", hint="take ids from search")
