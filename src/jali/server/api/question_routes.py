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
from jali.execution.reservation import ReleasedAnswer, RunContext
from jali.planner.terms import TermArguments
from jali.server.auth import Caller
from jali.server.dependencies import AnyCaller, CurrentState, wait_for_disconnect
from jali.server.jobs import Gone, Job
from jali.server.schemas import ANSWERED, BATCH_ANSWERED, EXCEEDED, Asked, BatchForm, Question, RemovedForm
from jali.server.state import AppState

router = APIRouter(tags=["questions"])


# What explanations have to say is long: it is written as JSON where it keeps nobody waiting.
@router.post("/explain", response_model=dict[str, Any])
async def explain(question: Question, caller: AnyCaller, house: CurrentState, plan: bool = False) -> Response:
    """Show how a question would be answered, what it would cost and leave. Free: no data is read."""
    return await house.desk.run_planning(
        caller.token, partial(_explain_question, house, caller, question, whole=plan)
    )


def _explain_question(house: AppState, caller: Caller, question: Question, *, whole: bool) -> Response:
    serving = house.database.serving
    found = serving.explain(question.sql, question.to_terms(), analyst=caller.analyst)
    told = serving.explanation(found).to_json()
    if whole:
        told["plan"] = strip_folders(found.encoded)
    return JSONResponse(told)


@router.post("/ask", responses=ANSWERED)
async def ask(request: Request, question: Asked, caller: AnyCaller, house: CurrentState) -> Response:
    """Ask a question. It is answered once, for good; the same question again is free.

    If you close the connection before the answer or the receipt is sent, the engine stops; the receipt stays open.
    """

    def begin(stage: Any) -> Any:
        return house.database.serving.begin(
            question.sql, question.to_terms(), analyst=caller.analyst, stage=stage, working=house.desk.working
        )

    key = ("ask", caller.analyst, question.model_dump_json(exclude={"wait", "release"}))
    taken = await house.desk.submit(key, begin, caller.token)
    gone = partial(wait_for_disconnect, request)
    return await respond_with_answer(house, caller, taken, wait=question.wait, release=question.release, gone=gone)


@router.post("/batch", responses=BATCH_ANSWERED)
async def batch(request: Request, form: BatchForm, caller: AnyCaller, house: CurrentState) -> Response:
    """Ask questions together: planned jointly, charged once, with answers that agree."""
    wanted, conditions = _read_batch_form(form)

    def begin(stage: Any) -> Any:
        return house.database.serving.begin_batch(
            wanted, conditions, analyst=caller.analyst, stage=stage, working=house.desk.working
        )

    key = ("batch", caller.analyst, form.model_dump_json(exclude={"wait", "release"}))
    taken = await house.desk.submit(key, begin, caller.token)
    gone = partial(wait_for_disconnect, request)
    return await respond_with_answer(house, caller, taken, wait=form.wait, release=form.release, gone=gone)


@router.post("/batch/explain", response_model=dict[str, Any])
async def explain_batch(form: BatchForm, caller: AnyCaller, house: CurrentState) -> Response:
    """Show how a batch would be answered, what it would cost and leave. Free."""
    wanted, conditions = _read_batch_form(form)

    def explain_all() -> Response:
        found = house.database.serving.explain_batch(wanted, conditions, analyst=caller.analyst)
        told = {
            "explanation": house.database.serving.batch_explanation(found),
            "costs": {name: str(event) for name, event in found.costs},
            "leaves": [list(pair) for pair in found.leaves],
            "plan": strip_folders(found.encoded),
        }
        return JSONResponse(told)

    return await house.desk.run_planning(caller.token, explain_all)


@router.post("/removed", responses=EXCEEDED)
async def removed(question: RemovedForm, caller: AnyCaller, house: CurrentState) -> dict[str, Any]:
    """Estimate what clamping and bounding take from a question, for a loss of its own: two receipts."""

    def estimate(watch: RunContext) -> dict[str, Any]:
        given: TermArguments = {"epsilon": question.epsilon, "rho": question.rho, "max_rows": question.max_rows}
        made = house.database.serving.estimate_bias(question.sql, given, analyst=caller.analyst, watch=watch)
        return {
            "clamped": None if made.clamped is None else made.clamped.receipt,
            "bounded": None if made.bounded is None else made.bounded.receipt,
            "max_rows": made.max_rows,
            "reach": made.reach,
            "notes": list(made.notes),
            "text": str(made),
        }

    return await house.desk.run_with_data(estimate)


def _read_batch_form(form: BatchForm) -> tuple[list[BatchQuestion], BatchConditions]:
    wanted = [BatchQuestion(one.sql, one.weight, one.to_terms()) for one in form.questions]
    return wanted, BatchConditions(form.epsilon, form.rho, form.delta, form.agree)


async def respond_with_answer(
    house: AppState,
    caller: Caller,
    taken: ReleasedAnswer[Any] | Job,
    *,
    wait: float | None = None,
    release: bool = False,
    gone: Gone | None = None,
) -> Response:
    """Write an answer; or the receipt, where it takes longer than somebody waits."""
    if isinstance(taken, Job):
        patience = house.settings.patience
        found = await house.desk.wait_for_outcome(taken, patience if wait is None else min(wait, patience), gone)
        if found is None:
            return respond_accepted(taken)
    else:
        found = taken
    return JSONResponse(
        await house.desk.run_without_data(partial(build_result_document, house, caller, found, release=release))
    )


def build_result_document(
    house: AppState, caller: Caller, found: ReleasedAnswer[Any], confidence: float = 0.95, *, release: bool = False
) -> dict[str, Any]:
    """Return what was found as plain JSON values; with the release, from which a client makes the same answer."""
    told = build_answer_document(house, caller, found.answer, confidence)
    return told | ({"release": encode_release(found.plan, found.drawn)} if release else {})


def build_answer_document(
    house: AppState, caller: Caller, answer: Answer | BatchAnswer, confidence: float = 0.95
) -> dict[str, Any]:
    """Return an answer as plain JSON values, with what is left to this caller."""
    left = {
        table: encode_remaining_with_decimals(house.database.remaining(table, analyst=caller.analyst))
        for table, _ in answer.costs
    }
    return answer.to_json(confidence) | {"analyst": caller.analyst, "remaining": left}


def respond_accepted(job: Job) -> Response:
    """Say that a question is paid, and where its answer will be."""
    place = f"/api/v1/receipts/{job.receipt}"
    links = {"answer": f"{place}/answer", "events": f"{place}/events"}
    told = {"receipt": job.receipt, "state": "open", "stage": job.stage, "elapsed": round(job.elapsed, 1)}
    return JSONResponse(told | links, 202, {"Location": place})
