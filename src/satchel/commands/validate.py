"""`satchel validate`: check the three-layer pack against the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel.commands.build import pack_path
from satchel.commands.command import Command, Flag, Group, LocalPath
from satchel.errors import FileNotFound
from satchel.packing.layers import LayeredPack
from satchel.verifying.validation import Problem, decode

if TYPE_CHECKING:
    from satchel.engine import Engine


class ValidateRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    output: Annotated[
        str, Meta(description="the pack, if it is not _ctx/context_pack.json"), LocalPath(), Flag("-o")
    ] = ""


class ValidateResponse(msgspec.Struct, frozen=True):
    path: str
    ok: bool
    chunks: int
    problems: list[Problem]


def run(engine: Engine, request: ValidateRequest) -> ValidateResponse:
    """Check the three-layer pack: its schema, its ids, its sources, and every citation byte for byte.

    Exits with 1 when anything differs, and lists what.
    """
    path = pack_path(engine, request.output)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileNotFound(
            f"{path.name} cannot be read: {error.strerror}",
            hint="write it first: satchel build",
            next_actions=[{"tool": "build", "args": {}, "reason": "write the pack"}],
        ) from error
    pack = decode(data)
    if not isinstance(pack, LayeredPack):
        return ValidateResponse(str(path), False, 0, [pack])
    problems = engine.validate(pack)
    return ValidateResponse(str(path), not problems, len(pack.chunks), problems)


COMMAND = Command(
    "validate", ValidateRequest, ValidateResponse, run, fresh=False, group=Group.CHECK, of_one_folder=True
)
