"""`satchel command`: one request of the Command API, as JSON in and JSON out."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import Group
from satchel.errors import InvalidRequest, SatchelError, TooLarge
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Response, decode, encode, failure
from satchel.serving.error_table import ERRORS, EXIT_OK
from satchel.serving.verbs import Verb

MAX_BYTES = 8 * 1024 * 1024  # room for a request with a whole pack to verify
STANDARD_INPUT = "-"


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel command`."""

    json: Annotated[str, Meta(description="the request itself")] = ""
    file: Annotated[str, Meta(description="the file that holds the request, or - for standard input")] = ""
    index_dir: Annotated[
        str, Meta(description="keep the index in this folder or at this store URL, not in _ctx/")
    ] = ""


def run(request: CommandRequest) -> int:
    """Answer one request of the Command API: {"action", "payload", "options", "config"} in, the envelope out.

    The payload holds the fields that the action has as flags, and `project`: the folder. Example:
    satchel command --json '{"action": "search", "payload": {"query": "sessions", "project": "."}}'
    """
    try:
        response = Dispatcher(index_dir=request.index_dir).answer(decode(_read(request)))
    except SatchelError as error:
        response = failure(error)
    sys.stdout.buffer.write(encode(response) + b"\n")
    return _exit_code(response)


def _read(request: CommandRequest) -> bytes:
    """Return the request as it was given, from --json, a file or standard input."""
    if bool(request.json) == bool(request.file):
        raise InvalidRequest(
            "give the request by --json or by --file, one of them", hint="satchel command --help"
        )
    if request.json:
        return request.json.encode()
    try:
        with (
            nullcontext(sys.stdin.buffer)
            if request.file == STANDARD_INPUT
            else open(request.file, "rb") as stream
        ):
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidRequest(
            f"{request.file!r} cannot be read: {error.strerror}", hint="name a file"
        ) from None
    if len(data) > MAX_BYTES:
        raise TooLarge(f"the request has more than {MAX_BYTES} bytes", details={"max_bytes": MAX_BYTES})
    return data


def _exit_code(response: Response) -> int:
    error = response.error
    return ERRORS[error["code"]].exit if isinstance(error, dict) else EXIT_OK


VERB = Verb("command", CommandRequest, run, group=Group.SERVE)
