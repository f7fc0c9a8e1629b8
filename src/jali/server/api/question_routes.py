"""Routes of questions: explained free of charge, asked once, and answered with a receipt where they take long."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from jali.answer import Answer
from jali.batch import BatchAnswer, BatchQuestion
from jali.client.account_documents import encode_remaining_with_decimals
from jali.client.release_documents import encode_release, strip_folders
from jali.execution.ask_batch import BatchConditions
from jali.execution.reservation import ReleasedAnswer, ReservedQuestion, RunContext, Stage
from jali.planner.terms import TermArguments
from jali.server.auth import Caller
from jali.server.dependencies import AnyCaller, CurrentState, wait_for_disconnect
from jali.server.jobs import Job
from jali.server.schemas import ANSWERED, BATCH_ANSWERED, EXCEEDED, Asked, BatchForm, Question, RemovedForm
from jali.server.state import AppState

router = APIRouter(tags=["questions"])


# What explanations have to say is long: it is written as JSON where it keeps nobody waiting.
@router.post("/explain", response_model=dict[str, Any])
async def explain(question: Question, caller: AnyCaller, state: CurrentState, plan: bool = False) -> Response:
    """Show the plan of a question, its privacy loss and the remaining budget. Free: no data is read."""
    return await state.jobs.run_planning(
        caller.token, partial(_explain_question, state, caller, question, whole=plan)
    )


def _explain_question(state: AppState, caller: Caller, question: Question, *, whole: bool) -> Response:
    serving = state.database.serving
    found = serving.explain(question.sql, question.to_terms(), analyst=caller.analyst)
    document = serving.explanation(found).to_json()
    if whole:
        document["plan"] = strip_folders(found.encoded)
    return JSONResponse(document)


@router.post("/ask", responses=ANSWERED)
async def ask(request: Request, question: Asked, caller: AnyCaller, state: CurrentState) -> Response:
    """Ask a question. It is answered once; asking the same question again is free.

    If you close the connection before the answer or the receipt is sent, the engine stops; the receipt stays open.
    """
    taken = await submit_question(state, caller, question)
    return await respond_with_answer(request, state, caller, taken, wait=question.wait, release=question.release)


async def submit_question(state: AppState, caller: Caller, question: Asked) -> ReleasedAnswer[Any] | Job:
    """Submit a question to the job queue. The same question of the same caller is submitted once at a time."""

    def begin(stage: Stage) -> ReleasedAnswer[Any] | ReservedQuestion[Any]:
        return state.database.serving.begin(
            question.sql, question.to_terms(), analyst=caller.analyst, stage=stage, working=state.jobs.working
        )

    key = ("ask", caller.analyst, question.model_dump_json(exclude={"wait", "release"}))
    return await state.jobs.submit(key, begin, caller.token)


@router.post("/batch", responses=BATCH_ANSWERED)
async def batch(request: Request, form: BatchForm, caller: AnyCaller, state: CurrentState) -> Response:
    """Ask questions together: planned jointly, charged once, with consistent answers."""
    wanted, conditions = _read_batch_form(form)

    def begin(stage: Stage) -> ReleasedAnswer[Any] | ReservedQuestion[Any]:
        return state.database.serving.begin_batch(
            wanted, conditions, analyst=caller.analyst, stage=stage, working=state.jobs.working
        )

    key = ("batch", caller.analyst, form.model_dump_json(exclude={"wait", "release"}))
    taken = await state.jobs.submit(key, begin, caller.token)
    return await respond_with_answer(request, state, caller, taken, wait=form.wait, release=form.release)


@router.post("/batch/explain", response_model=dict[str, Any])
async def explain_batch(form: BatchForm, caller: AnyCaller, state: CurrentState) -> Response:
    """Show the plan of a batch, its privacy loss and the remaining budget. Free."""
    wanted, conditions = _read_batch_form(form)

    def explain_all() -> Response:
        found = state.database.serving.explain_batch(wanted, conditions, analyst=caller.analyst)
        document = {
            "explanation": state.database.serving.batch_explanation(found),
            "costs": {name: str(event) for name, event in found.costs},
            "leaves": [list(pair) for pair in found.leaves],
            "plan": strip_folders(found.encoded),
        }
        return JSONResponse(document)

    return await state.jobs.run_planning(caller.token, explain_all)


@router.post("/removed", responses=EXCEEDED)
async def removed(question: RemovedForm, caller: AnyCaller, state: CurrentState) -> dict[str, Any]:
    """Estimate the bias from clamping and from contribution bounds, at its own privacy loss: two receipts."""

    def estimate(watch: RunContext) -> dict[str, Any]:
        given: TermArguments = {"epsilon": question.epsilon, "rho": question.rho, "max_rows": question.max_rows}
        made = state.database.serving.estimate_bias(question.sql, given, analyst=caller.analyst, watch=watch)
        return {
            "clamped": None if made.clamped is None else made.clamped.receipt,
            "bounded": None if made.bounded is None else made.bounded.receipt,
            "max_rows": made.max_rows,
            "reach": made.reach,
            "notes": list(made.notes),
            "text": str(made),
        }

    return await state.jobs.run_with_data(estimate)


def _read_batch_form(form: BatchForm) -> tuple[list[BatchQuestion], BatchConditions]:
    wanted = [BatchQuestion(one.sql, one.weight, one.to_terms()) for one in form.questions]
    return wanted, BatchConditions(form.epsilon, form.rho, form.delta, form.agree)


async def respond_with_answer(
    request: Request,
    state: AppState,
    caller: Caller,
    taken: ReleasedAnswer[Any] | Job,
    *,
    wait: float | None = None,
    release: bool = False,
) -> Response:
    """Respond with an answer; or with the receipt if the answer takes longer than the caller waits."""
    found = await wait_for_answer(request, state, taken, wait)
    if isinstance(found, Job):
        return respond_accepted(found)
    build = partial(build_result_document, state, caller, found, release=release)
    return JSONResponse(await state.jobs.run_without_data(build))


async def wait_for_answer(
    request: Request | None, state: AppState, taken: ReleasedAnswer[Any] | Job, wait: float | None = None
) -> ReleasedAnswer[Any] | Job:
    """Wait for the answer of a job; return the job itself if the answer takes longer.

    If the client of the request disconnects before, and nobody else waits for the job, it is cancelled.
    """
    if not isinstance(taken, Job):
        return taken
    patience = state.settings.patience
    seconds = patience if wait is None else min(wait, patience)
    disconnected = None if request is None else partial(wait_for_disconnect, request)
    return await state.jobs.wait_for_outcome(taken, seconds, disconnected) or taken


def build_result_document(
    state: AppState, caller: Caller, found: ReleasedAnswer[Any], confidence: float = 0.95, *, release: bool = False
) -> dict[str, Any]:
    """Return what was found as plain JSON values; with the release, from which a client makes the same answer."""
    document = build_answer_document(state, caller, found.answer, confidence)
    return document | ({"release": encode_release(found.plan, found.drawn)} if release else {})


def build_answer_document(
    state: AppState, caller: Caller, answer: Answer | BatchAnswer, confidence: float = 0.95
) -> dict[str, Any]:
    """Return an answer as plain JSON values, with what is left to this caller."""
    left = {
        table: encode_remaining_with_decimals(state.database.remaining(table, analyst=caller.analyst))
        for table, _ in answer.costs
    }
    return answer.to_json(confidence) | {"analyst": caller.analyst, "remaining": left}


def respond_accepted(job: Job) -> Response:
    """Say that a question is paid, and where its answer will be."""
    place = f"/api/v1/receipts/{job.receipt}"
    links = {"answer": f"{place}/answer", "events": f"{place}/events"}
    document = {"receipt": job.receipt, "state": "open", "stage": job.stage, "elapsed": round(job.elapsed, 1)}
    return JSONResponse(document | links, 202, {"Location": place})
