"""The pages of asking: an editor, what a question would cost, and its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from jali.errors import JaliError
from jali.execution.accounts import RemainderText
from jali.execution.reservation import ReleasedAnswer
from jali.ledger.charge import grant_account
from jali.server.api.question_routes import submit_question, wait_for_answer
from jali.server.api.table_routes import tables_document
from jali.server.auth import Caller
from jali.server.dependencies import CurrentState, PageCaller
from jali.server.http_errors import RequestRefused, convert_error
from jali.server.jobs import Busy, Job
from jali.server.pages.answer_view import PlanNode, build_answer_card, build_plan_tree
from jali.server.pages.error_pages import build_error_card
from jali.server.pages.page_forms import CheckedForm, Fields, validate_fields
from jali.server.pages.rendering import render_fragment, render_page, write_phrase
from jali.server.schemas import Asked
from jali.server.state import AppState

router = APIRouter()
_JSON_URL = "/api/v1/tables"
TERMS = ("epsilon", "delta", "rho", "within", "max_rows", "max_groups", "min_people")
# The script asks and looks again: so many seconds until it shows that a question takes long.
_GLANCE = 1.0
_LONGEST = 10_000
Shown = tuple[str, dict[str, Any], int]
_FIRST = {"sql": "", "epsilon": "0.1"} | dict.fromkeys(TERMS[1:], "")
# What is answered with a card beside the question, which stays as it was written.
_SHOWN_ERRORS = (JaliError, RequestRefused, Busy)


@dataclass(frozen=True)
class QuestionCost:
    """What a question would cost and leave, and how close its answer would come.

    Attributes:
        loss: What it costs.
        left: Of each account what would be left, and whether it would refuse.
        forecasts: Of each aggregate, its error in words.
        groups: How many groups there are, in words.
        free: Whether it was answered before.
        accuracy: Where the loss was found for an accuracy.
        plan: The whole plan.
    """

    loss: str
    left: tuple[tuple[str, str, bool], ...]
    forecasts: tuple[tuple[str, str], ...]
    groups: str
    free: bool
    accuracy: tuple[str, ...]
    plan: PlanNode


@router.get("/")
@router.get("/ask")
async def editor(request: Request, caller: PageCaller, state: CurrentState) -> Response:
    """Show the editor; with a question that the address holds, which is neither explained nor asked."""
    document = {name: request.query_params.get(name, "")[:_LONGEST] for name in ("sql", *TERMS)}
    given = {name: value for name, value in document.items() if value}
    return await _show_editor(request, state, caller, _FIRST | given)


@router.get("/ask/explain")
@router.get("/ask/answer")
async def back(_: PageCaller) -> Response:
    """Lead whoever loads the address of a part again to the page."""
    return RedirectResponse("/ask", 303)


@router.post("/ask")
async def ask_page(request: Request, caller: PageCaller, state: CurrentState, fields: CheckedForm) -> Response:
    """Explain or answer a question for a browser without the script."""
    asked = fields.get("do") == "ask"
    shown = await (
        _show_answer(state, caller, fields, request) if asked else _show_explanation(state, caller, fields)
    )
    return await _show_editor(request, state, caller, _FIRST | dict.fromkeys(TERMS, "") | dict(fields), shown)


async def _show_editor(
    request: Request, state: AppState, caller: Caller, fields: Fields, shown: Shown | None = None
) -> Response:
    known = await state.jobs.run_without_data(partial(_list_tables, state, caller))
    template, context, status = shown or ("", {}, 200)
    held = {"fields": fields, "result": template, "example": _write_example(known["tables"])}
    return render_page("ask.html", request, json_url=_JSON_URL, status=status, **known, **held, **context)


def _list_tables(state: AppState, caller: Caller) -> dict[str, Any]:
    """Return every table, and on which of them the caller has no grant."""
    known = tables_document(state)
    if caller.analyst is None:
        return known | {"lacking": set()}
    held = {account.name for account in state.database.ledger.accounts()}
    names = {one["table"] for one in known["tables"]}
    return known | {"lacking": {name for name in names if grant_account(caller.analyst, name) not in held}}


def _write_example(tables: list[dict[str, Any]]) -> str:
    """Return a question that can be asked here."""
    if not tables:
        return "SELECT COUNT(*) FROM ..."
    keyed = next((column["name"] for column in tables[0]["columns"] if column["keys"]), None)
    name = tables[0]["table"]
    if keyed is None:
        return f"SELECT COUNT(*) AS n FROM {name}"
    return f"SELECT {keyed}, COUNT(*) AS n FROM {name} GROUP BY {keyed}"


@router.post("/ask/explain")
async def explain(request: Request, caller: PageCaller, state: CurrentState, fields: CheckedForm) -> Response:
    """Say what a question would cost. Free."""
    template, context, _ = await _show_explanation(state, caller, fields)
    return render_fragment(template, request, **context)


@router.post("/ask/answer")
async def answer(request: Request, caller: PageCaller, state: CurrentState, fields: CheckedForm) -> Response:
    """Answer a question; or give its receipt, where it takes long."""
    template, context, _ = await _show_answer(state, caller, fields, request, wait=_GLANCE)
    return render_fragment(template, request, **context)


async def _show_explanation(state: AppState, caller: Caller, fields: Fields) -> Shown:
    try:
        found = await state.jobs.run_planning(
            caller.token, partial(_build_explanation, state, caller, _read_question(fields))
        )
    except _SHOWN_ERRORS as error:
        return show_failure(error, fields.get("sql", ""))
    return "explained.html", {"explained": found}, 200


def _build_explanation(state: AppState, caller: Caller, question: Asked) -> QuestionCost:
    from jali.explain.labelled_facts import write_forecasts

    serving = state.database.serving
    note = serving.explanation(serving.explain(question.sql, question.to_terms(), analyst=caller.analyst))
    return QuestionCost(
        note.loss,
        _describe_leaves(note.leaves),
        tuple((one.name, "; ".join(write_forecasts(one))) for one in note.aggregates),
        f"chosen: {note.selection.sizes}" if note.selection is not None else f"{note.groups or 1:,}",
        all(isinstance(left, RemainderText) and left.free for _, left in note.leaves),
        note.accuracy,
        build_plan_tree(note),
    )


def _describe_leaves(leaves: Iterable[tuple[str, str]]) -> tuple[tuple[str, str, bool], ...]:
    """Say what would be left; where an account refuses, only that: the others would not pay either."""
    known = ((account, left) for account, left in leaves if isinstance(left, RemainderText))
    document = tuple((account, write_phrase(left.phrase), left.refused) for account, left in known)
    return tuple(one for one in document if one[2]) or document


async def _show_answer(
    state: AppState, caller: Caller, fields: Fields, request: Request, wait: float | None = None
) -> Shown:
    try:
        question = _read_question(fields)
        taken = await submit_question(state, caller, question)
        template, context, status = await show_outcome(request, state, caller, taken, wait=wait)
        return template, context | {"asked": question.sql}, status
    except _SHOWN_ERRORS as error:
        return show_failure(error, fields.get("sql", ""))


async def show_outcome(
    request: Request | None,
    state: AppState,
    caller: Caller,
    taken: ReleasedAnswer[Any] | Job,
    wait: float | None = None,
) -> Shown:
    """Return the card of an answer; or of a job that takes longer than the caller waits."""
    found = await wait_for_answer(request, state, taken, wait)
    if isinstance(found, Job):
        return "waiting.html", {"job": found}, 202
    card = await state.jobs.run_without_data(partial(build_answer_card, state, caller, found))
    return "answer.html", {"card": card}, 200


def _read_question(fields: Fields) -> Asked:
    document = {name: fields.get(name, "").strip() for name in TERMS}
    return validate_fields(Asked, {**document, "sql": fields.get("sql", "")})


def show_failure(error: Exception, sql: str = "") -> Shown:
    """Return the card of an error."""
    failure = build_error_card(convert_error(error), sql)
    return "failure.html", {"failure": failure}, failure.status
