"""`satchel serve grpc`: the Command API over gRPC, with the standard health and reflection services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transport import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.serving.rpc import server
else:  # whoever lists the transports loads no gRPC
    server = late("satchel.serving.rpc.server")


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until SIGINT or SIGTERM."""
    return server.run(dispatcher, access, options)


TRANSPORT = Transport("grpc", run, extra="grpc", parallel=True)
