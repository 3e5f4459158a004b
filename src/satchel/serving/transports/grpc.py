"""`satchel serve grpc`: the Command API over gRPC, with the standard health and reflection services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transports import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.serving.grpc import server
else:  # listing the transports must load no gRPC
    server = late("satchel.serving.grpc.server")


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    return server.run(dispatcher, access, options)


TRANSPORT = Transport("grpc", run, extra="grpc", parallel=True)
