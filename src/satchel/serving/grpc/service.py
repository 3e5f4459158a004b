"""The service `satchel.v1.Satchel`: requests of the Command API in, envelopes or streams of items out.

A call that gets no answer ends with a gRPC status; its envelope is in the trailing metadata.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import grpc  # type: ignore[import-untyped]
import msgspec
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from satchel import plugins
from satchel.errors import InvalidRequest, SatchelError, TooLarge
from satchel.library.grants import Caller
from satchel.serving.access import Access
from satchel.serving.call_runner import CallRunner, ProgressStream, ServerBusy
from satchel.serving.dispatcher import Dispatcher, defect
from satchel.serving.envelope import Progress, Request, Response, decode, encode, failure
from satchel.serving.error_table import ERRORS
from satchel.serving.grpc.contract import SERVICE, message_classes
from satchel.visible_json import compact_bytes

ERROR_METADATA = "satchel-error-bin"
_MAX_MESSAGE_CHARS = 500  # clients accept 8 kB of metadata, and a message may quote the request
_CODES_WITHOUT_ANSWER = ("timeout", "cancelled", "internal")  # they end a call although its request was valid


class SatchelService:
    """Both methods of the service. Messages are parsed here, so that a malformed one gets our error."""

    def __init__(
        self, dispatcher: Dispatcher, runner: CallRunner, access: Access, *, max_body_bytes: int
    ) -> None:
        self._dispatcher = dispatcher
        self._access = access
        self._runner = runner
        self._max_bytes = max_body_bytes
        self._messages = message_classes()

    def handler(self) -> Any:
        """Return the handler to register with a server."""
        methods = {
            "Command": grpc.unary_unary_rpc_method_handler(self.command, None, _serialized),
            "Stream": grpc.unary_stream_rpc_method_handler(self.stream, None, _serialized),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def command(self, data: bytes, context: Any) -> Any:
        """Answer one request with one envelope."""
        async with _refusing_errors(context):
            response = await self._run(self._request(data), context)
            if _has_no_answer(response):
                await _refuse(context, response)
            return self._messages["Envelope"](json=encode(response).decode())

    async def stream(self, data: bytes, context: Any) -> AsyncIterator[Any]:
        """Answer one request with progress, the items of its answer, and the rest of the envelope."""
        event = self._messages["Event"]
        async with _refusing_errors(context):
            progress = ProgressStream()
            request = self._request(data)
            answer = asyncio.ensure_future(self._run(request, context, progress.put))
            try:
                async for done, total in progress.until(answer):
                    yield event(progress=self._messages["Progress"](done=done, total=total))
                response = await answer
            finally:
                answer.cancel()  # does nothing unless the caller has left
            if _has_no_answer(response):
                await _refuse(context, response)
            name, items, rest = _split_items(request, response)
            for item in items:
                yield event(item_json=item.decode())
            yield event(response_json=rest.decode(), list=name)

    async def _run(self, request: Request, context: Any, progress: Progress | None = None) -> Response:
        # The interceptor asked the same and cannot hand on what it found.
        caller = await caller_of(self._access, dict(context.invocation_metadata() or ()))
        return await self._runner.run(
            lambda call: self._dispatcher.answer(request, call), caller, context.time_remaining(), progress
        )

    def _request(self, data: bytes) -> Request:
        """Parse the request in a message."""
        if len(data) > self._max_bytes:
            raise TooLarge(
                f"the request has {len(data)} bytes, at most {self._max_bytes} are taken",
                hint="ask for less at once",
                details={"max_bytes": self._max_bytes},
            )
        try:
            return decode(self._messages["Envelope"].FromString(data).json)
        except DecodeError:
            raise InvalidRequest(
                "this is no Envelope", hint="its field json holds the request as UTF-8"
            ) from None


def _split_items(request: Request, response: Response) -> tuple[str, list[bytes], bytes]:
    """Return the name of the answer's list, its items as JSON, and the envelope without that list."""
    # The command of an error may not exist.
    if response.status == "error":
        return "", [], encode(response)
    name = items_field(plugins.load("command", request.action).response)
    if not name:
        return "", [], encode(response)
    fields = msgspec.json.decode(compact_bytes(response.data), type=dict[str, msgspec.Raw])
    found = fields.pop(name, None)  # an empty list may have been left out
    items = [] if found is None else msgspec.json.decode(found, type=list[msgspec.Raw])
    return name, [bytes(item) for item in items], encode(msgspec.structs.replace(response, data=fields))


@cache
def items_field(response: type[msgspec.Struct]) -> str:
    """Return the field of a response that is sent item by item; an empty text if it has no such list.

    It is the first list of records that the module of the command defines itself: records that it shares with
    other commands are beside its answer. A command with shared records alone answers with the first of them.
    """
    held = {name: (kind, _record_types(kind)) for name, kind in get_type_hints(response).items()}
    with_records = [(name, kind, records) for name, (kind, records) in held.items() if records]
    own = [found for found in with_records if any(r.__module__ == response.__module__ for r in found[2])]
    name, kind, _ = (own or with_records or [("", None, [])])[0]
    return name if get_origin(kind) in (list, tuple) else ""


def _record_types(kind: Any) -> list[type[msgspec.Struct]]:
    """Return the structs that a type is made of."""
    if isinstance(kind, type) and get_origin(kind) is None:
        return [kind] if issubclass(kind, msgspec.Struct) else []
    return [record for part in get_args(kind) for record in _record_types(part)]


def _serialized(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


@asynccontextmanager
async def _refusing_errors(context: Any) -> AsyncIterator[None]:
    """End the call with the envelope of any error that is raised inside."""
    try:
        yield
    # The call has ended already.
    except grpc.aio.AbortError:
        raise
    except ServerBusy as error:
        await _refuse(context, failure(error), "RESOURCE_EXHAUSTED")
    except Exception as error:
        await _refuse(context, failure(error if isinstance(error, SatchelError) else defect(error)))


def _has_no_answer(response: Response) -> bool:
    """Return whether a response ends its call with a gRPC status instead of an envelope."""
    return isinstance(response.error, dict) and response.error["code"] in _CODES_WITHOUT_ANSWER


async def _refuse(context: Any, response: Response, status: str = "") -> None:
    """End the call with a gRPC status and the envelope as metadata; this raises and never returns."""
    assert isinstance(response.error, dict)
    message = _shortened(response.message)
    error = {**response.error, "message": message, "hint": _shortened(response.error["hint"])}
    response = msgspec.structs.replace(response, message=message, error=error, hints=[])
    code = grpc.StatusCode[status or ERRORS[error["code"]].grpc]
    await context.abort(code, message, ((ERROR_METADATA, encode(response)),))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE_CHARS else f"{text[:_MAX_MESSAGE_CHARS]}…"


class AccessInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Refuses calls without access before their messages are read; `open_services` need no access."""

    def __init__(self, access: Access, open_services: tuple[str, ...]) -> None:
        self._access = access
        self._open_services = open_services

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        """Return the handler of a call, or a handler that refuses it."""
        service = details.method.strip("/").partition("/")[0]
        if service not in self._open_services:
            try:
                await caller_of(self._access, dict(details.invocation_metadata or ()))
            except SatchelError as error:
                return _refusing_handler(failure(error))
        return await continuation(details)


async def caller_of(access: Access, metadata: dict[str, Any]) -> Caller:
    """Return who calls, after a check of the origin and the token of a call."""
    # A web page cannot speak gRPC to a local name, but a proxy in between may name the page it serves.
    access.check_origin(metadata.get("origin"))
    if access.rights is None:
        return access.caller(metadata.get("authorization"))
    # The catalogue or an identity provider may have to be asked, which must not hold up other calls.
    return await asyncio.to_thread(access.caller, metadata.get("authorization"))


def _refusing_handler(response: Response) -> Any:
    async def end(_: Any, context: Any) -> None:
        await _refuse(context, response)

    # This kind of handler fits every kind of call, because it neither reads nor sends a message.
    return grpc.stream_stream_rpc_method_handler(end)
