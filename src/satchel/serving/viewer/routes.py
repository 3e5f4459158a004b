"""The routes of the viewer: pages, the copy of a pack, the assets, and the sign-in of a browser."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse
from starlette.responses import Response as HttpResponse
from starlette.routing import Route

from satchel.commands.session import CallOptions
from satchel.errors import SatchelError
from satchel.library.grants import CALLER, Caller
from satchel.library.pushes import PushQueue
from satchel.serving.access import LOGIN_PATH, Access, is_loopback, session_cookie
from satchel.serving.call_runner import CallRunner
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call
from satchel.serving.error_table import ERRORS
from satchel.serving.viewer import (
    ask_page,
    code_page,
    map_page,
    pack_page,
    quality_page,
    status_page,
    templating,
)
from satchel.serving.viewer.library_status import library_status
from satchel.serving.viewer.linked_clients import linked_clients
from satchel.serving.viewer.page import CommandRefused, Page, PageCalls, PageLinks, PageQuery

PAGES = (
    ask_page.PAGE,
    pack_page.PAGE,
    code_page.PAGE,
    map_page.PAGE,
    quality_page.PAGE,
    status_page.PAGE,
)
_SOON = CallOptions(max_reindex_ms=3_000)  # a person sees what is there rather than wait for the last edit
_THEME = "satchel_theme"
_YEAR = 31_536_000  # seconds
# Pages hold text of repositories: no script or style but our own files is run, and nothing else is loaded.
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # with no-referrer a form of ours has the origin null
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Viewer:
    """The pages of a server. `opened` is the text of a saved pack that was opened with it."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        runner: CallRunner,
        access: Access,
        *,
        opened: str = "",
        pushes: PushQueue | None = None,
    ) -> None:
        self._pushes = pushes
        self._dispatcher = dispatcher
        self._runner = runner
        self._access = access
        self._opened = opened
        self._keys: set[str] = set()  # each lets one browser in, once

    def new_key(self) -> str:
        """Return a key that signs one browser in, once."""
        key = secrets.token_urlsafe()
        self._keys.add(key)
        return key

    def routes(self) -> list[Route]:
        """Return the routes of all pages but the first, which shares its address with other answers."""
        return [
            Route("/pack/text", self.pack_text),
            Route("/pack/opened", self.opened_pack),
            Route("/code/{path:path}", self.page(code_page.PAGE)),
            *(Route(f"/{page.name}", self.page(page)) for page in PAGES if page.name),
            Route("/assets/{name}", self.asset),
            Route(LOGIN_PATH, self.login, methods=["GET", "POST"]),
        ]

    def page(self, page: Page) -> Callable[[HttpRequest], Any]:
        """Return the handler of a page."""

        async def answer(http: HttpRequest) -> HttpResponse:
            return await self._answer(http, page, page.view)

        return answer

    async def home(self, http: HttpRequest) -> HttpResponse:
        """Return the first page."""
        return await self._answer(http, ask_page.PAGE, ask_page.view)

    async def opened_pack(self, http: HttpRequest) -> HttpResponse:
        """Return the saved pack that was opened with the server."""

        def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
            if not self._opened:
                raise CommandRefused({"message": "no pack was opened", "hint": "satchel view FILE"})
            return pack_page.saved_view(calls, self._opened, refresh=bool(query.text("refresh")))

        return await self._answer(http, Page("pack", "Pack", "saved.html", view), view)

    async def pack_text(self, http: HttpRequest) -> HttpResponse:
        """Return a pack in a format, as text to copy."""
        query = _query(http)
        name = query.text("format", pack_page.COPIED[0][0])
        try:
            text = await self._runner.run(
                lambda call: pack_page.document(self._calls(query, call), query, name), _caller(http)
            )
        except (CommandRefused, SatchelError) as error:
            return HttpResponse(str(error), HTTPStatus.BAD_REQUEST, SECURITY_HEADERS, "text/plain")
        return HttpResponse(text, headers=SECURITY_HEADERS, media_type="text/plain")

    async def asset(self, http: HttpRequest) -> HttpResponse:
        """Return a style sheet, script or picture of the viewer."""
        name = http.path_params["name"]
        if name not in templating.ASSETS:
            return HttpResponse("there is no such file", HTTPStatus.NOT_FOUND, SECURITY_HEADERS, "text/plain")
        headers = {**SECURITY_HEADERS, "cache-control": f"public, max-age={_YEAR}, immutable"}
        return HttpResponse(templating.asset(name), headers=headers, media_type=templating.ASSETS[name])

    async def login(self, http: HttpRequest) -> HttpResponse:
        """Sign a browser in by a key that is used once, or by the token in a form."""
        target = _local_target(http.query_params.get("next", "/"))
        key = http.query_params.get("key", "")
        if key and key in self._keys:
            self._keys.discard(key)
            return self._signed_in(http, target, self._access.own_session)
        if http.method == "POST":
            given = parse_qs((await http.body()).decode("utf-8", "replace")).get("token", [""])[0]
            session = await asyncio.to_thread(self._access.session, given)
            if session is not None:
                return self._signed_in(http, target, session)
            return self._html("login.html", {"refused": True, "next": target}, HTTPStatus.UNAUTHORIZED)
        if not await asyncio.to_thread(lambda: self._access.is_guarded):
            return RedirectResponse(target, HTTPStatus.SEE_OTHER)
        return self._html("login.html", {"refused": bool(key), "next": target}, HTTPStatus.OK)

    def _signed_in(self, http: HttpRequest, target: str, session: str) -> HttpResponse:
        response = RedirectResponse(target, HTTPStatus.SEE_OTHER, SECURITY_HEADERS)
        name = session_cookie(http.scope["server"][1] or 0)
        response.set_cookie(name, session, httponly=True, samesite="strict")
        return response

    async def _answer(
        self,
        http: HttpRequest,
        page: Page,
        view: Callable[[PageCalls, PageQuery, PageLinks], dict[str, Any]],
    ) -> HttpResponse:
        """Return a page filled with what its commands answer; an error of a command is a page, too."""
        query = _query(http)
        caller = _caller(http)
        links = PageLinks(self._project(query, caller))
        shared = self._shared(http, page, query)

        def work(call: Call) -> str:
            calls = self._calls(query, call)
            values = {**self._surroundings(page, query, caller), **view(calls, query, links)}
            return templating.render(page.template, links, {**shared, "notes": calls.notes, **values})

        try:
            return HttpResponse(
                await self._runner.run(work, caller), headers=SECURITY_HEADERS, media_type="text/html"
            )
        except CommandRefused as refused:
            error = refused.error
        except SatchelError as raised:
            error = raised.as_dict()
        status = ERRORS[error["code"]].http if error.get("code") in ERRORS else HTTPStatus.NOT_FOUND
        waiting = CommandRefused(error).is_passing
        busy = self._busy(query, caller) if waiting else None
        values = {**shared, "notes": [], "error": error, "waiting": waiting, "busy": busy}
        text = templating.render("error.html", links, values)
        return HttpResponse(text, status, SECURITY_HEADERS, "text/html")

    def _busy(self, query: PageQuery, caller: Caller) -> tuple[int, int] | None:
        """Return files done and files to do, while the index of a page's project is being built."""
        return self._dispatcher.busy_with(self._root(self._project(query, caller), caller))

    def _html(self, template: str, values: Mapping[str, Any], status: HTTPStatus) -> HttpResponse:
        text = templating.render(template, PageLinks(), {"theme": "", **values})
        return HttpResponse(text, status, SECURITY_HEADERS, "text/html")

    def _shared(self, http: HttpRequest, page: Page, query: PageQuery) -> dict[str, Any]:
        """Return what every page shows: where one is, and where one can go."""
        theme = http.cookies.get(_THEME, "")
        caller = _caller(http)
        projects = self._dispatcher.projects(caller)
        own = self._project(query, caller)
        return {
            "page": page.name,
            "title": page.title,
            "pages": PAGES,
            "theme": theme if theme in ("light", "dark") else "",
            "projects": projects,
            "project": own or (projects[0] if projects else ""),
            "q": query.text("q"),
            "opened": bool(self._opened),
        }

    def _surroundings(self, page: Page, query: PageQuery, caller: Caller) -> dict[str, Any]:
        """Return what the page Status shows of the server and its machine; clients only to the operator on
        that machine."""
        if page.name != status_page.PAGE.name:
            return {}
        is_local = is_loopback(self._access.host) and caller.is_operator
        watching = [
            (root.name, self._dispatcher.is_watched(root), self._dispatcher.busy_with(root))
            for root in self._dispatcher.roots(caller)
        ]
        root = self._root(self._project(query, caller), caller)
        clients = linked_clients(str(root)) if is_local else None
        served = self._dispatcher.library
        is_library = served is not None and root == served.folder
        library = library_status(served, caller, self._pushes) if served is not None and is_library else None
        return {"clients": clients, "watching": watching, "library": library}

    def _calls(self, query: PageQuery, call: Call) -> PageCalls:
        return PageCalls(self._dispatcher, self._project(query, call.caller), call, _SOON)

    def _project(self, query: PageQuery, caller: Caller) -> str:
        """Return the project that a page is about; empty where the caller sees only one."""
        projects = self._dispatcher.projects(caller)
        return query.text("project", projects[0]) if len(projects) > 1 else ""

    def _root(self, project: str, caller: Caller) -> Path:
        """Return the folder of a project."""
        roots = self._dispatcher.roots(caller)
        named = dict(zip(self._dispatcher.projects(caller), roots, strict=True))
        return named.get(project) or roots[0]


def _caller(http: HttpRequest) -> Caller:
    """Return who reads a page, as the middleware found out."""
    caller: Caller = http.scope[CALLER]
    return caller


def _query(http: HttpRequest) -> PageQuery:
    """Return the values of an address; the path of a file is one of them."""
    values = {name: http.query_params.getlist(name) for name in http.query_params}
    if "path" in http.path_params:
        values["path"] = [http.path_params["path"]]
    return PageQuery(values)


def _local_target(written: str) -> str:
    """Return an address of this server to go to; anything else leads to the first page."""
    parts = urlsplit(written)
    is_local = written.startswith("/") and not written.startswith(("//", "/\\")) and not parts.netloc
    return written if is_local and "\\" not in written else "/"
