"""All routes of the pages, and the files that they need.

The application loads it only when it is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from jali.server.pages import (
    ask_pages,
    budget_pages,
    curator_pages,
    lab_pages,
    receipt_pages,
    sign_in_pages,
    stream_pages,
)
from jali.server.pages.error_pages import respond_with_page

STATIC = Path(__file__).with_name("static")
# What speaks JSON or plain text also where it fails.
_FOR_PROGRAMS = ("/api/", "/health", "/metrics")


def add_routes(app: FastAPI) -> None:
    """Add the routes of the pages to an application."""
    for part in (sign_in_pages, ask_pages, budget_pages, receipt_pages, curator_pages, stream_pages, lab_pages):
        app.include_router(part.router, include_in_schema=False)
    app.mount("/static", _StaticFiles(directory=STATIC), "static")


def add_pages(app: FastAPI) -> None:
    """Let an application answer with pages where a page was asked for."""
    app.add_middleware(_ErrorPageMiddleware)


class _ErrorPageMiddleware:
    """Has whatever fails below a page's address answered with a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
