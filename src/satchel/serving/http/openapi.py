"""The OpenAPI 3.1 document of the HTTP server, made from the registry of commands."""

from __future__ import annotations

import json
from typing import Any, get_args, get_type_hints

import msgspec

from satchel import plugins
from satchel.commands.command import Command, LocalPath
from satchel.serving.envelope import Request, Response
from satchel.types import ResponseMode

COMMAND_PATH = "/v1/command"
_DESCRIPTION = "Cited context packs of a repository."
_CONTRACT_VERSION = "1"  # a release does not change it
_REF_TEMPLATE = "#/components/schemas/{name}"
_REFUSALS = {
    "400": "the body is not JSON, or not a request",
    "401": "a token is needed",
    "403": "a page of another origin may not call",
    "408": "the request came too slowly, or its time is over",
    "413": "the request is too large",
    "415": "the body does not say that it is JSON",
    "421": "the server does not answer to this host name",
    "429": "too many requests run already",
    "431": "the head of the request is too long",
    "500": "a defect",
    "503": "the server is stopping",
}
_JSON = "application/json"
_LINES, _EVENTS = "application/x-ndjson", "text/event-stream"
_SHARED_FIELDS = {
    "project": {"description": "which of the served folders: its name or fingerprint", "type": "string"},
    "response_mode": {
        "description": "how much the envelope says",
        "enum": [mode.value for mode in ResponseMode],
        "default": ResponseMode.FACTS.value,
    },
}


def path_of(name: str) -> str:
    """Return the route of a command."""
    return f"/v1/{name}"


def text() -> str:
    """Return the document as the text that is published and served."""
    return json.dumps(document(), indent=2) + "\n"


def overview() -> str:
    """Return the list of routes as plain text."""
    commands: list[Command] = [plugins.load("command", name) for name in plugins.names("command")]
    width = max(len(path_of(command.name)) for command in commands)
    lines = [f"POST {path_of(command.name):<{width}}  {_summary(command)}" for command in commands]
    return "\n".join(
        (
            f"Satchel. {_DESCRIPTION}",
            "",
            f"POST {COMMAND_PATH:<{width}}  any action: {{action, payload, options, config}}",
            *lines,
            "",
            "GET /health, /ready, /metrics, /openapi.json",
            "",
        )
    )


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    commands: list[Command] = [plugins.load("command", name) for name in plugins.names("command")]
    kinds = [kind for command in commands for kind in (command.request, command.response)]
    schemas, components = msgspec.json.schema_components(
        [Request, Response, *kinds], ref_template=_REF_TEMPLATE
    )
    request, envelope, *others = schemas
    paths = _monitoring_paths()
    paths[COMMAND_PATH] = {"post": _post_operation("command", "Run any action.", request, envelope, envelope)}
    for command, payload, data in zip(commands, others[::2], others[1::2], strict=True):
        _adapt_request(components[_schema_name(payload)], command)
        answer = {"allOf": [envelope, {"properties": {"data": {"anyOf": [data, {"type": "null"}]}}}]}
        paths[path_of(command.name)] = {
            "post": _post_operation(command.name, command.help, payload, answer, envelope)
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Satchel", "version": _CONTRACT_VERSION, "description": _DESCRIPTION},
        "security": [{}, {"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _adapt_request(schema: dict[str, Any], command: Command) -> None:
    """Change the schema of a request to what a server accepts: shared fields added, local paths removed."""
    hints = get_type_hints(command.request, include_extras=True)
    for name in command.request.__struct_fields__:
        marks = [note for note in get_args(hints[name]) if isinstance(note, LocalPath)]
        if marks and not marks[0].or_name:
            schema["properties"].pop(name, None)
    for name, field in _SHARED_FIELDS.items():
        schema["properties"].setdefault(name, field)


def _post_operation(name: str, help: str, request: Any, answer: Any, envelope: Any) -> dict[str, Any]:
    """Return the operation of a route that runs a command."""
    summary, _, description = help.partition("\n\n")
    streamed = {kind: {"schema": {"type": "string"}} for kind in (_LINES, _EVENTS)}
    answered = {
        "description": "the envelope, also if its status is error",
        "content": {_JSON: {"schema": answer}, **streamed},
    }
    refusals = {
        status: {"description": reason, "content": {_JSON: {"schema": envelope}}}
        for status, reason in _REFUSALS.items()
    }
    return {
        "operationId": name,
        "summary": " ".join(summary.split()),
        "description": description.strip(),
        "requestBody": {"required": True, "content": {_JSON: {"schema": request}}},
        "responses": {"200": answered, **refusals},
    }


def _monitoring_paths() -> dict[str, Any]:
    """Return the routes that monitor a server: its index page, probes, metrics and this document."""
    routes = {
        "/": ("index", "The routes, for people.", "text/plain"),
        "/health": ("health", "Whether the process lives.", _JSON),
        "/ready": ("ready", "Whether every served folder has an index.", _JSON),
        "/metrics": ("metrics", "Counters for Prometheus.", "text/plain"),
        "/openapi.json": ("openapi", "This document.", _JSON),
    }
    return {path: {"get": _get_operation(*words, ready=path == "/ready")} for path, words in routes.items()}


def _get_operation(name: str, summary: str, kind: str, *, ready: bool) -> dict[str, Any]:
    """Return the operation of a monitoring route; `kind` is the content type of its answer."""
    schema = {"type": "string"} if kind != _JSON else {"type": "object"}
    answers: dict[str, Any] = {"200": {"description": "as asked", "content": {kind: {"schema": schema}}}}
    for status in ("401", "403", "421", "429"):
        answers[status] = {
            "description": _REFUSALS[status],
            "content": {_JSON: {"schema": {"$ref": _REF_TEMPLATE.format(name=Response.__name__)}}},
        }
    if ready:
        answers["503"] = {"description": "an index is missing", "content": {_JSON: {"schema": schema}}}
    return {"operationId": name, "summary": summary, "responses": answers}


def _schema_name(reference: dict[str, Any]) -> str:
    """Return the name of the schema that a reference leads to."""
    name: str = reference["$ref"].rpartition("/")[2]
    return name


def _summary(command: Command) -> str:
    return " ".join(command.help.partition("\n\n")[0].split())
