"""The application: the API, the pages, and what stands around them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute

from jali.database import Database
from jali.server import http_errors
from jali.server.api import (
    access_routes,
    health_routes,
    lab_routes,
    question_routes,
    receipt_routes,
    stream_routes,
    table_routes,
)
from jali.server.auth import RunToken
from jali.server.dependencies import SHOWN_BY, SIGNED_IN
from jali.server.middleware import API, SecurityMiddleware
from jali.server.schemas import REFUSED
from jali.server.settings import Settings
from jali.server.state import AppState

_LOG = logging.getLogger("jali.server")
_ENVELOPE = {"$ref": "#/components/schemas/Envelope"}
_UNFINISHED = "{} questions were not finished: their receipts are"


def make_app(database: Database, settings: Settings | None = None, visit: RunToken | None = None) -> FastAPI:
    """Return the application over a database.

    Args:
        database: What is served.
        settings: How.
        visit: A curator's token for this run alone.
    """
    house = AppState.create(database, settings or Settings(), visit)
    app = _App(
        title="Jali",
        version=version("jali"),
        summary="A private statistical database: every answer is differentially private, with an error bar.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan(house),
    )
    app.state.house = house
    http_errors.install(app)
    app.router.routes.extend(_routes())
    _add_pages(app)
    app.add_middleware(SecurityMiddleware, house=house)
    return app


class _App(FastAPI):
    """An application whose document says that errors are JSON also where a route answers with text or events."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        document = super().openapi()
        for methods in document["paths"].values():
            for operation in methods.values():
                for status, told in operation["responses"].items():
                    if int(status) >= 400:
                        told["content"] = {"application/json": {"schema": _ENVELOPE}}
        return document


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """Return the routes, which every application shares: reading their types takes a third of a second."""
    from jali.server.pages.page_routes import add_routes

    made = FastAPI(openapi_url=None)
    made.include_router(_api())
    made.include_router(health_routes.router)
    add_routes(made)
    return tuple(made.router.routes)


def _api() -> APIRouter:
    """Return the API. Who is not signed in reaches none of it, whatever a route says of itself."""
    router = APIRouter(prefix=API, dependencies=[*SHOWN_BY, *SIGNED_IN], responses=REFUSED)
    for part in (question_routes, receipt_routes, table_routes, stream_routes, access_routes, lab_routes):
        router.include_router(part.router)
    return router


def _add_pages(app: FastAPI) -> None:
    from jali.server.pages.page_routes import add_pages

    add_pages(app)


def _lifespan(house: AppState):  # type: ignore[no-untyped-def] # FastAPI's own type is not public
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        planner, processes = house.database.serving.planner, house.start_planner_pool()
        if processes is not None:
            processes.start()
        yield
        house.database.serving.plan_with(planner)
        left = await house.desk.stop(house.settings.grace)
        if left:
            said = "1 question was not finished: its receipt is" if left == 1 else _UNFINISHED.format(left)
            _LOG.warning("%s open, to be redeemed.", said)

    return lifespan
