"""How does a call end that gets no answer? By its gRPC status, with the envelope beside it."""

from __future__ import annotations

from typing import Any

import grpc  # type: ignore[import-untyped]
import msgspec

from satchel.errors import SatchelError
from satchel.serving.access import Access
from satchel.serving.envelope import Response, encode, failure
from satchel.serving.error_table import ERRORS

ERROR_METADATA = "satchel-error-bin"
_MOST_MESSAGE = 500  # characters; clients take 8 kB of metadata, and a message may quote the request
_NOT_ANSWERED = ("timeout", "cancelled", "internal")  # these end a call though the request was one


def is_refusal(response: Response) -> bool:
    """Whether an envelope of the dispatcher is no answer."""
    return isinstance(response.error, dict) and response.error["code"] in _NOT_ANSWERED


async def refuse(context: Any, response: Response, status: str = "") -> None:
    """End the call; this never returns."""
    assert isinstance(response.error, dict)
    message = _short(response.message)
    error = {**response.error, "message": message, "hint": _short(response.error["hint"])}
    response = msgspec.structs.replace(response, message=message, error=error, hints=[])
    code = grpc.StatusCode[status or ERRORS[error["code"]].grpc]
    await context.abort(code, message, ((ERROR_METADATA, encode(response)),))


def _short(text: str) -> str:
    return text if len(text) <= _MOST_MESSAGE else f"{text[:_MOST_MESSAGE]}…"


class Gate(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Refuses a call before its message is read; `free` services are open to everybody."""

    def __init__(self, access: Access, free: tuple[str, ...]) -> None:
        self._access = access
        self._free = free

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        """The handler of a call, or one that refuses it."""
        service = details.method.strip("/").partition("/")[0]
        if service not in self._free:
            try:
                self._check(dict(details.invocation_metadata or ()))
            except SatchelError as error:
                return _refusing(failure(error))
        return await continuation(details)

    def _check(self, metadata: dict[str, Any]) -> None:
        # A page cannot speak gRPC to a local name, but a proxy in between may say which page it speaks for.
        self._access.check_origin(metadata.get("origin"))
        self._access.check_token(metadata.get("authorization"))


def _refusing(response: Response) -> Any:
    async def end(_: Any, context: Any) -> None:
        await refuse(context, response)

    return grpc.stream_stream_rpc_method_handler(end)  # fits every kind of call: nothing is read or sent
