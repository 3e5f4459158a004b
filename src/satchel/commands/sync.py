"""`satchel sync`: `build` and `validate` in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from satchel.commands import build, validate
from satchel.commands.command import Command, Group
from satchel.verifying.validation import Problem

if TYPE_CHECKING:
    from satchel.engine import Engine


class SyncResponse(msgspec.Struct, frozen=True):
    path: str
    ok: bool
    docs: int
    chunks: int
    problems: list[Problem]


def run(engine: Engine, request: build.BuildRequest) -> SyncResponse:
    """Write the three-layer pack and check it: `build` and `validate` in one step."""
    built = build.run(engine, request)
    if not built.written:
        return SyncResponse(built.path, True, built.docs, built.chunks, [])
    checked = validate.run(engine, validate.ValidateRequest(output=request.output))
    return SyncResponse(built.path, checked.ok, built.docs, built.chunks, checked.problems)


COMMAND = Command(
    "sync", build.BuildRequest, SyncResponse, run, fresh=False, group=Group.SET_UP, of_one_folder=True
)
