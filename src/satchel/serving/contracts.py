"""The files of `contracts/v1/`: the OpenAPI document, and JSON Schemas of all requests and responses."""

from __future__ import annotations

from typing import Any

import msgspec

from satchel import plugins
from satchel.commands.command import Command
from satchel.commands.freshness import IndexStateItem
from satchel.packing.layers import LayeredPack
from satchel.serving.envelope import Request, Response
from satchel.serving.http import openapi

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas of `contracts/v1/` by file name."""
    found = {
        "command.request.schema.json": _schema(Request),
        "command.response.schema.json": _schema(Response),
        "context_pack_layers.schema.json": _schema(LayeredPack),
        "index_state.schema.json": _schema(IndexStateItem),
        "openapi.json": openapi.document(),
    }
    for name in plugins.names("command"):
        command: Command = plugins.load("command", name)
        found[f"{name}.request.schema.json"] = _schema(command.request)
        found[f"{name}.response.schema.json"] = _schema(command.response)
    return found


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"$schema": _DIALECT, **msgspec.json.schema(kind)}
