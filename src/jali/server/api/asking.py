"""Questions: explained for nothing, asked once, and answered with a receipt where they take long."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from jali.answer import Answer
from jali.batch import BatchAnswer, Wanted
from jali.database.asking import Found, Watch
from jali.database.batches import Conditions
from jali.documents.accounts import left_json
from jali.documents.releases import release_json, without_folders
from jali.planner.terms import Given
from jali.server.api.doors import AnyCaller, TheHouse, left
from jali.server.api.forms import Asked, BatchForm, Question, RemovedForm
from jali.server.api.told import ANSWERED, BATCH_ANSWERED, EXCEEDED
from jali.server.house import House
from jali.server.people.caller import Caller
from jali.server.work.desk import Gone
from jali.server.work.job import Job

router = APIRouter(tags=["questions"])


# What explanations have to say is long: it is written as JSON where it keeps nobody waiting.
@router.post("/explain", response_model=dict[str, Any])
async def explain(question: Question, caller: AnyCaller, house: TheHouse, plan: bool = False) -> Response:
    """Show how a question would be answered, what it would cost and leave. Free: no data is read."""
    return await house.desk.planning(caller.token, partial(_explained, house, caller, question, whole=plan))


def _explained(house: House, caller: Caller, question: Question, *, whole: bool) -> Response:
    serving = house.database.serving
    found = serving.explain(question.sql, question.given(), analyst=caller.analyst)
    told = serving.explanation(found).to_json()
    if whole:
        told["plan"] = without_folders(found.encoded)
    return JSONResponse(told)


@router.post("/ask", responses=ANSWERED)
async def ask(request: Request, question: Asked, caller: AnyCaller, house: TheHouse) -> Response:
    """Ask a question. It is answered once, for good; the same question again is free.

    If you close the connection before the answer or the receipt is sent, the engine stops; the receipt stays open.
    """

    def begin(stage: Any) -> Any:
        return house.database.serving.begin(
            question.sql, question.given(), analyst=caller.analyst, stage=stage, working=house.desk.working
        )

    key = ("ask", caller.analyst, question.model_dump_json(exclude={"wait", "release"}))
    taken = await house.desk.take(key, begin, caller.token)
    gone = partial(left, request)
    return await answered(house, caller, taken, wait=question.wait, release=question.release, gone=gone)


@router.post("/batch", responses=BATCH_ANSWERED)
async def batch(request: Request, form: BatchForm, caller: AnyCaller, house: TheHouse) -> Response:
    """Ask questions together: planned jointly, charged once, with answers that agree."""
    wanted, conditions = _wanted(form)

    def begin(stage: Any) -> Any:
        return house.database.serving.begin_batch(
            wanted, conditions, analyst=caller.analyst, stage=stage, working=house.desk.working
        )

    key = ("batch", caller.analyst, form.model_dump_json(exclude={"wait", "release"}))
    taken = await house.desk.take(key, begin, caller.token)
    gone = partial(left, request)
    return await answered(house, caller, taken, wait=form.wait, release=form.release, gone=gone)


@router.post("/batch/explain", response_model=dict[str, Any])
async def explain_batch(form: BatchForm, caller: AnyCaller, house: TheHouse) -> Response:
    """Show how a batch would be answered, what it would cost and leave. Free."""
    wanted, conditions = _wanted(form)

    def explained() -> Response:
        found = house.database.serving.explain_batch(wanted, conditions, analyst=caller.analyst)
        told = {
            "explanation": house.database.serving.batch_explanation(found),
            "costs": {name: str(event) for name, event in found.costs},
            "leaves": [list(pair) for pair in found.leaves],
            "plan": without_folders(found.encoded),
        }
        return JSONResponse(told)

    return await house.desk.planning(caller.token, explained)


@router.post("/removed", responses=EXCEEDED)
async def removed(question: RemovedForm, caller: AnyCaller, house: TheHouse) -> dict[str, Any]:
    """Estimate what clamping and bounding take from a question, for a loss of its own: two receipts."""

    def found(watch: Watch) -> dict[str, Any]:
        given: Given = {"epsilon": question.epsilon, "rho": question.rho, "max_rows": question.max_rows}
        made = house.database.serving.removed(question.sql, given, analyst=caller.analyst, watch=watch)
        return {
            "clamped": None if made.clamped is None else made.clamped.receipt,
            "bounded": None if made.bounded is None else made.bounded.receipt,
            "max_rows": made.max_rows,
            "reach": made.reach,
            "notes": list(made.notes),
            "text": str(made),
        }

    return await house.desk.in_engine(found)


def _wanted(form: BatchForm) -> tuple[list[Wanted], Conditions]:
    wanted = [Wanted(one.sql, one.weight, one.given()) for one in form.questions]
    return wanted, Conditions(form.epsilon, form.rho, form.delta, form.agree)


async def answered(
    house: House,
    caller: Caller,
    taken: Found[Any] | Job,
    *,
    wait: float | None = None,
    release: bool = False,
    gone: Gone | None = None,
) -> Response:
    """Write an answer; or the receipt, where it takes longer than somebody waits."""
    if isinstance(taken, Job):
        patience = house.settings.patience
        found = await house.desk.outcome(taken, patience if wait is None else min(wait, patience), gone)
        if found is None:
            return accepted(taken)
    else:
        found = taken
    return JSONResponse(await house.desk.in_front(partial(found_document, house, caller, found, release=release)))


def found_document(
    house: House, caller: Caller, found: Found[Any], confidence: float = 0.95, *, release: bool = False
) -> dict[str, Any]:
    """Return what was found as plain JSON values; with the release, from which a client makes the same answer."""
    told = answer_document(house, caller, found.answer, confidence)
    return told | ({"release": release_json(found.plan, found.drawn)} if release else {})


def answer_document(
    house: House, caller: Caller, answer: Answer | BatchAnswer, confidence: float = 0.95
) -> dict[str, Any]:
    """Return an answer as plain JSON values, with what is left to this caller."""
    left = {table: left_json(house.database.remaining(table, analyst=caller.analyst)) for table, _ in answer.costs}
    return answer.to_json(confidence) | {"analyst": caller.analyst, "remaining": left}


def accepted(job: Job) -> Response:
    """Say that a question is paid, and where its answer will be."""
    place = f"/api/v1/receipts/{job.receipt}"
    links = {"answer": f"{place}/answer", "events": f"{place}/events"}
    told = {"receipt": job.receipt, "state": "open", "stage": job.stage, "elapsed": round(job.elapsed, 1)}
    return JSONResponse(told | links, 202, {"Location": place})
