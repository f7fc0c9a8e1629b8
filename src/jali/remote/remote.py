"""A database behind a server, as a session sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from jali.answer import Answer
from jali.batch import Batch, BatchAnswer, Wanted
from jali.database import Remaining, Stage
from jali.database.serving import released
from jali.documents.accounts import receipt_from_json, remaining_from_json
from jali.errors import QueryError
from jali.planner import PLANS, Plan
from jali.planner.batch import BATCHES, BatchPlan
from jali.planner.membership import PartOf
from jali.planner.terms import Given
from jali.privacy.rationals import Number
from jali.query.nodes import Question, Value
from jali.remote.streams import RemoteStreams
from jali.remote.terms import number_json, part_json, question_json
from jali.remote.wire import Wire
from jali.removed import Removed
from jali.serialization.schema import VALUES

if TYPE_CHECKING:
    from jali.ledger import Receipt
    from jali.query.catalog import Table
    from jali.stream import StreamView


class Remote:
    """What a session needs of a database, at a server.

    Whose grants pay is what the server knows of the token: the `analyst` that a session names changes nothing.
    Answers are made here from the plan and the noisy draw that the ledger keeps there, so that they can do
    whatever local ones can.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def ask(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,  # noqa: ARG002 - as a database has it
        on_stage: Stage | None = None,
        **terms: Unpack[Given],
    ) -> Answer:
        """Answer a question."""
        if on_stage is not None:
            on_stage("asking the server")
        told = self._wire.answer("/ask", question_json(question, terms) | {"release": True})
        return _answer(told)

    def explain(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,  # noqa: ARG002
        **terms: Unpack[Given],
    ) -> Plan:
        """Plan a question. Free."""
        told = self._wire.post("/explain", question_json(question, terms), plan=True)
        known: Plan = PLANS.decode(told["plan"])
        return replace(known, leaves=tuple((name, left) for name, left in told["leaves"]))

    def batch(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        agree: bool = True,
        analyst: str | None = None,  # noqa: ARG002
        on_stage: Stage | None = None,  # noqa: ARG002
    ) -> Batch:
        """Begin a batch."""
        total = {"epsilon": epsilon, "rho": rho, "delta": delta}
        said = {name: number_json(value) for name, value in total.items() if value is not None}

        def document(wanted: Sequence[Wanted]) -> dict[str, Any]:
            return said | {"agree": agree, "questions": [_weighed(one) for one in wanted]}

        def plan(wanted: list[Wanted]) -> BatchPlan:
            told = self._wire.post("/batch/explain", document(wanted))
            known: BatchPlan = BATCHES.decode(told["plan"])
            return replace(known, leaves=tuple((name, left) for name, left in told["leaves"]))

        def ask(wanted: list[Wanted], _: BatchPlan) -> BatchAnswer:
            return _batch(self._wire.answer("/batch", document(wanted) | {"release": True}))

        return Batch(plan, ask)

    def removed(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        max_rows: int | None = None,
        analyst: str | None = None,  # noqa: ARG002
        on_stage: Stage | None = None,  # noqa: ARG002
    ) -> Removed:
        """Estimate what clamping and bounding take from a question."""
        terms: Given = {"epsilon": epsilon, "rho": rho, "max_rows": max_rows}
        told = self._wire.post("/removed", question_json(question, terms))
        clamped, bounded = (
            None if told[name] is None else self.redeem(told[name]) for name in ("clamped", "bounded")
        )
        return Removed(clamped, bounded, told["max_rows"], told["reach"], tuple(told["notes"]))

    def tables(self) -> tuple[Table, ...]:
        """Return the protected tables as they are declared, without the curator's folders."""
        told = self._wire.get("/tables", declarations=True)["declarations"]
        return tuple(PLANS.decode(text) for text in told)

    def streams(self) -> tuple[str, ...]:
        """Return the names of all streams."""
        return tuple(str(one["stream"]) for one in self._wire.get("/streams")["streams"])

    def part_keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the parts of a table by an expression with declared keys."""
        keys: tuple[Value, ...] = VALUES.of_plain(self._wire.get(f"/tables/{table}/parts", by=by)["keys"])
        return keys

    def stream_view(self, name: str) -> StreamView:
        """Return a stream as anybody may see it."""
        return RemoteStreams(self._wire).view(name)

    def remaining(
        self,
        table: str,
        *,
        analyst: str | None = None,  # noqa: ARG002
        part: Mapping[str, Value] | PartOf | None = None,
    ) -> Remaining:
        """Return the largest loss that a further question would be granted."""
        said = {} if part is None else {"part": json.dumps(part_json(part))}
        told = self._wire.get(f"/budgets/{table}", **said)
        return remaining_from_json(told)

    def receipts(self, *, analyst: str | None = None) -> tuple[Receipt, ...]:  # noqa: ARG002
        """Return the latest thousand receipts of whom the token is, oldest first."""
        told = self._wire.get("/receipts", most=1000)["receipts"]
        return tuple(receipt_from_json(one) for one in reversed(told))

    def redeem(self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None) -> Answer:  # noqa: ARG002
        """Give the one answer that a receipt stands for."""
        return _answer(self._wire.answer(f"/receipts/{receipt}/redeem", release=True))

    def redeem_batch(
        self,
        receipt: str,
        *,
        analyst: str | None = None,  # noqa: ARG002
        on_stage: Stage | None = None,  # noqa: ARG002
    ) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for."""
        return _batch(self._wire.answer(f"/receipts/{receipt}/redeem", release=True))


def _weighed(wanted: Wanted) -> dict[str, Any]:
    return question_json(wanted.question, wanted.given) | {"weight": number_json(wanted.weight)}


def _answer(told: dict[str, Any]) -> Answer:
    found = _found(told)
    if not isinstance(found, Answer):
        raise QueryError("receipt-of-a-batch", receipt=found.receipt)
    return found


def _batch(told: dict[str, Any]) -> BatchAnswer:
    found = _found(told)
    if isinstance(found, Answer):
        raise QueryError("receipt-not-of-a-batch", receipt=found.receipt)
    return found


def _found(told: dict[str, Any]) -> Answer | BatchAnswer:
    release = told["release"]
    return released(release["plan"], told["receipt"], release["drawn"], cached=told["cached"]).answer
