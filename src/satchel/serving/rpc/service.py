"""The service `satchel.v1.Satchel`: requests of the Command API in, envelopes or their parts out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from satchel import plugins
from satchel.errors import InvalidRequest, TooLarge
from satchel.serving.envelope import Request, Response, decode, encode
from satchel.serving.rpc.calls import Busy, Calls, Steps, told
from satchel.serving.rpc.contract import SERVICE, message_classes
from satchel.serving.rpc.items import split
from satchel.serving.rpc.refusal import is_refusal, refuse


class Service:
    """Both methods. Messages are taken as bytes, so that what is wrong with them is said in our words."""

    def __init__(self, calls: Calls, *, max_body_bytes: int) -> None:
        self._calls = calls
        self._most = max_body_bytes
        self._kinds = message_classes()

    def handler(self) -> Any:
        """As a server takes it."""
        methods = {
            "Command": grpc.unary_unary_rpc_method_handler(self.command, None, _serialized),
            "Stream": grpc.unary_stream_rpc_method_handler(self.stream, None, _serialized),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def command(self, data: bytes, context: Any) -> Any:
        """One request, one answer."""
        async with _refusing(context):
            response = await self._calls.answer(self._request(data), context.time_remaining())
            if is_refusal(response):
                await refuse(context, response)
            return self._kinds["Envelope"](json=encode(response).decode())

    async def stream(self, data: bytes, context: Any) -> AsyncIterator[Any]:
        """One request, its answer in parts."""
        event = self._kinds["Event"]
        async with _refusing(context):
            steps = Steps()
            request = self._request(data)
            answer = asyncio.ensure_future(self._calls.answer(request, context.time_remaining(), steps.heard))
            try:
                async for done, total in steps.until(answer):
                    yield event(progress=self._kinds["Progress"](done=done, total=total))
                response = await answer
            finally:
                answer.cancel()  # the caller may have left
            if is_refusal(response):
                await refuse(context, response)
            name, items, rest = _parts(request, response)
            for item in items:
                yield event(item_json=item.decode())
            yield event(response_json=rest.decode(), list=name)

    def _request(self, data: bytes) -> Request:
        if len(data) > self._most:
            raise TooLarge(
                f"the request has {len(data)} bytes, at most {self._most} are taken",
                hint="ask for less at once",
                details={"max_bytes": self._most},
            )
        try:
            return decode(self._kinds["Envelope"].FromString(data).json)
        except DecodeError:
            raise InvalidRequest(
                "this is no Envelope", hint="its field json holds the request as UTF-8"
            ) from None


def _parts(request: Request, response: Response) -> tuple[str, list[bytes], bytes]:
    if response.status == "error":  # perhaps there is no such command
        return "", [], encode(response)
    return split(response, plugins.load("command", request.action).response)


def _serialized(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


@asynccontextmanager
async def _refusing(context: Any) -> AsyncIterator[None]:
    """Whatever goes wrong ends the call with its envelope."""
    try:
        yield
    except grpc.aio.AbortError:  # it has ended already
        raise
    except Busy as error:
        await refuse(context, told(error), "RESOURCE_EXHAUSTED")
    except Exception as error:
        await refuse(context, told(error))
