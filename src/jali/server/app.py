"""The application: the API, the pages and the middleware around them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import Response
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from jali.database import Database
from jali.server import http_errors
from jali.server.api import (
    admin_routes,
    lab_routes,
    question_routes,
    receipt_routes,
    stream_routes,
    table_routes,
)
from jali.server.auth import RunToken
from jali.server.dependencies import CREDENTIALS, SIGNED_IN
from jali.server.middleware import API, SecurityMiddleware
from jali.server.schemas import REFUSED
from jali.server.settings import Settings
from jali.server.state import AppState

STATIC = Path(__file__).with_name("pages") / "static"
# Routes that answer with JSON or plain text even where they fail.
_FOR_PROGRAMS = ("/api/", "/health", "/metrics")
_LOG = logging.getLogger("jali.server")
_ENVELOPE = {"$ref": "#/components/schemas/Envelope"}
_UNFINISHED = "{} questions were not finished: their receipts are"


def make_app(database: Database, settings: Settings | None = None, run_token: RunToken | None = None) -> FastAPI:
    """Return the application over a database.

    Args:
        database: What is served.
        settings: How.
        run_token: A curator's token for this run alone.
    """
    state = AppState.create(database, settings or Settings(), run_token)
    app = _App(
        title="Jali",
        version=version("jali"),
        summary="A private statistical database: differentially private answers with confidence intervals.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan(state),
    )
    app.state.jali = state
    http_errors.install(app)
    app.router.routes.extend(_routes())
    app.add_middleware(_ErrorPageMiddleware)
    app.add_middleware(SecurityMiddleware, state=state)
    return app


class _App(FastAPI):
    """An application whose document says that errors are JSON also where a route answers with text or events."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        document = super().openapi()
        for methods in document["paths"].values():
            for operation in methods.values():
                for status, response in operation["responses"].items():
                    if int(status) >= 400:
                        response["content"] = {"application/json": {"schema": _ENVELOPE}}
        return document


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """Return the routes, which every application shares: reading their types takes a third of a second."""
    made = FastAPI(openapi_url=None)
    made.include_router(_api())
    made.include_router(admin_routes.health_router)
    _add_page_routes(made)
    return tuple(made.router.routes)


def _api() -> APIRouter:
    """Return the API. Who is not signed in reaches none of it, whatever a route says of itself."""
    router = APIRouter(prefix=API, dependencies=[*CREDENTIALS, *SIGNED_IN], responses=REFUSED)
    for part in (question_routes, receipt_routes, table_routes, stream_routes, admin_routes, lab_routes):
        router.include_router(part.router)
    return router


def _add_page_routes(app: FastAPI) -> None:
    """Add the routes of the pages, which are loaded only when an application is made."""
    from jali.server.pages import (
        ask_pages,
        budget_pages,
        curator_pages,
        lab_pages,
        receipt_pages,
        sign_in_pages,
        stream_pages,
    )

    for part in (sign_in_pages, ask_pages, budget_pages, receipt_pages, curator_pages, stream_pages, lab_pages):
        app.include_router(part.router, include_in_schema=False)
    app.mount("/static", _StaticFiles(directory=STATIC), "static")


class _ErrorPageMiddleware:
    """Has whatever fails below a page's address answered with a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from jali.server.pages.error_pages import respond_with_page

        if scope["type"] == "http" and not f"{scope['path']}/".startswith(_FOR_PROGRAMS):
            scope["jali.page"] = respond_with_page
        await self._app(scope, receive, send)


class _StaticFiles(StaticFiles):
    """The style sheet, the script and the icon: kept by browsers, and asked after each time."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        """Return a file that is fetched again only where it changed."""
        response = super().file_response(*arguments, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _lifespan(state: AppState):  # type: ignore[no-untyped-def] # FastAPI's own type is not public
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        planner, processes = state.database.serving.planner, state.start_planner_pool()
        if processes is not None:
            processes.start()
        yield
        state.database.serving.plan_with(planner)
        left = await state.jobs.stop(state.settings.grace)
        if left:
            subject = "1 question was not finished: its receipt is" if left == 1 else _UNFINISHED.format(left)
            _LOG.warning("%s open, to be redeemed.", subject)

    return lifespan
