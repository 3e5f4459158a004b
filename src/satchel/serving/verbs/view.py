"""`satchel view`: look at answers, packs, code and the index in a browser, or write one HTML file."""

from __future__ import annotations

import secrets
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Meta

from satchel import extras
from satchel.commands.command import BareValue, Flag, GitName, Group, Positional
from satchel.errors import InvalidRequest, ProjectNotFound
from satchel.plugins import late
from satchel.serving.access import LOGIN_PATH, make_access
from satchel.serving.envelope import Request
from satchel.serving.transports import ServeOptions, Transport
from satchel.serving.verbs import Verb
from satchel.serving.verbs.serve import make_dispatcher

if TYPE_CHECKING:
    from satchel.library import library as libraries
    from satchel.serving import call_runner, lifecycle
    from satchel.serving.http import server
    from satchel.serving.transports import http
    from satchel.serving.viewer import export, routes
    from satchel.verifying import saved_pack
else:  # `--help` must load no web server
    libraries = late("satchel.library.library")
    call_runner, lifecycle = late("satchel.serving.call_runner"), late("satchel.serving.lifecycle")
    http, server = late("satchel.serving.transports.http"), late("satchel.serving.http.server")
    routes, export = late("satchel.serving.viewer.routes"), late("satchel.serving.viewer.export")
    saved_pack = late("satchel.verifying.saved_pack")

_EXIT_SECONDS = 2.0


class ViewRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel view`."""

    target: Annotated[
        str, Meta(description="a question, or the file of a saved pack; nothing: the project"), Positional()
    ] = ""
    segment: Annotated[str, Meta(description="the project (default: .)"), Flag("-s")] = "."
    library: Annotated[
        str | None,
        Meta(description="a library as one project: the user's own, or that in DIR"),
        BareValue(""),
    ] = None
    diff: Annotated[str, Meta(description="a change for review: A..B, A...B, or A"), GitName()] = ""
    staged: Annotated[bool, Meta(description="what is staged, for review")] = False
    changed: Annotated[bool, Meta(description="what differs from HEAD, for review")] = False
    eval: Annotated[str, Meta(description="with --html: an evaluation that was saved here")] = ""
    budget_tokens: Annotated[int | None, Meta(description="tokens of the pack")] = None
    html: Annotated[str, Meta(description="write one HTML file that stands alone, and start no server")] = ""
    no_browser: Annotated[bool, Meta(description="only say the address")] = False
    port: Annotated[int, Meta(description="the port to listen on (default: a free one)")] = 0
    index_dir: Annotated[
        str, Meta(description="keep the index in this folder or at this store URL, not in _ctx/")
    ] = ""
    json: Annotated[bool, Meta(description="say the address as one line of JSON")] = False


def run(request: ViewRequest) -> int:
    """Open a page of this machine to look at answers and why they rank so, packs and their budget, code, the
    map of the project, quality and status; nothing is sent anywhere.

    satchel view "where are sessions stored"      ask, and look at the hits
    satchel view pack.md                          are the citations of a saved pack still true
    satchel view --diff main..HEAD --html r.html  a review as one file, to attach to a pull request
    satchel view --library                        all repositories of the user's library, as one project

    The address signs one browser in. `serve http` has the same pages at its first address.
    """
    extras.require("http", "satchel view")
    root = Path(request.segment)
    if not root.is_dir():
        raise ProjectNotFound(f"{request.segment!r} is not a folder", hint="give the root of a repository")
    if request.eval and not request.html:
        raise InvalidRequest("--eval is shown by --html", hint="the page Quality shows kept runs")
    if request.html and request.library is not None:
        raise InvalidRequest(
            "--html writes what one folder answers, not a library", hint="name the folder: --segment DIR"
        )
    if request.html:
        return _export(request, root)
    return _serve(request, root)


def _export(request: ViewRequest, root: Path) -> int:
    """Write the asked pack, review or evaluation as one file."""
    pack = _opened(request.target)
    text = export.page_of(root, request.index_dir, _values(request, pack), pack, request.eval)
    saved_pack.replace_file(Path(request.html), text)
    print(f"satchel: {request.html} written, {len(text.encode()):,} bytes", file=sys.stderr)
    return 0


def _serve(request: ViewRequest, root: Path) -> int:
    """Serve the pages to this machine until interrupted."""
    if request.library is not None:
        libraries.Library.open(request.library).repositories()  # raises if there is no library
    options = ServeOptions(
        transport="http",
        segments=(str(root),) if request.library is None else (),
        library=request.library,
        port=request.port,
        index_dir=request.index_dir,
        workers=1,
    )
    opened = _opened(request.target)
    access = make_access(options.host, public=False, token=secrets.token_urlsafe(), hosts=(), origins=())
    bound = server.bind(options.host, request.port)
    runner = call_runner.CallRunner(timeout_seconds=options.timeout_seconds)
    transport: Transport = http.TRANSPORT
    roots = [root] if request.library is None else []
    dispatcher = make_dispatcher(roots, transport, options)
    viewer = routes.Viewer(dispatcher, runner, access, opened=opened)
    try:
        dispatcher.start()
        host, port = bound.getsockname()[:2]
        _say(
            f"http://{host}:{port}{LOGIN_PATH}?key={viewer.new_key()}&next={quote(_start(request, opened))}",
            request,
        )
        # The first page does not wait for what this reads of the index.
        warming = Request("files", {"limit": 1, "fast": True})
        threading.Thread(target=dispatcher.answer, args=(warming,), daemon=True).start()
        server.serve(http.guarded_application(dispatcher, access, options, runner, viewer), bound)
    finally:
        lifecycle.exit_within(_EXIT_SECONDS)
        bound.close()
        runner.join()
        dispatcher.close()
    return 0


def _say(address: str, request: ViewRequest) -> None:
    """Print the address, and open it in a browser unless that is not wanted."""
    if request.json:
        print(msgspec.json.encode({"url": address}).decode(), flush=True)
    else:
        print(f"satchel: {address}", file=sys.stderr, flush=True)
    if not request.no_browser:
        webbrowser.open(address)


def _opened(target: str) -> str:
    """Return the text of a saved pack if the target is a file; empty for a question."""
    return saved_pack.read_file(Path(target)) if target and Path(target).is_file() else ""


def _values(request: ViewRequest, opened: str) -> dict[str, str]:
    """Return the values of the address that shows what is asked for."""
    given = {
        "q": "" if opened else request.target,
        "diff": request.diff,
        "staged": "1" if request.staged else "",
        "changed": "1" if request.changed else "",
        "budget": str(request.budget_tokens or ""),
    }
    return {name: value for name, value in given.items() if value}


def _start(request: ViewRequest, opened: str) -> str:
    """Return the address of the page to begin with."""
    if opened:
        return "/pack/opened"
    values = _values(request, opened)
    is_pack = any(name in values for name in ("diff", "staged", "changed", "budget"))
    return f"/{'pack' if is_pack else ''}" + (f"?{urlencode(values)}" if values else "")


VERB = Verb("view", ViewRequest, run, group=Group.LOOK)
