"""A database behind a server, for the same `Session`: what is asked here is answered there.

Terms travel with numbers as texts, which are read exactly. Answers are made here from the plan and the noisy
values that the ledger keeps there.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

from jali.answer import Answer
from jali.batch import Batch, BatchAnswer, BatchQuestion
from jali.catalog.value_domain import Value
from jali.client.account_documents import decode_receipt, decode_remaining
from jali.client.http_connection import ServerConnection, open_connection
from jali.database import Remaining, Stage
from jali.errors import CatalogError, QueryError
from jali.execution.bias import Removed
from jali.execution.streams.durable_streams import check_published_tick, read_tick
from jali.execution.streams.stream_declaration import read_stream_declaration
from jali.execution.two_phase import read_released
from jali.ir.expressions import Question
from jali.planner import PLANS, Plan
from jali.planner.batch import BATCHES, BatchPlan
from jali.planner.subpopulations import SubpopulationRequest
from jali.planner.terms import TermArguments
from jali.privacy.rationals import Number
from jali.serialization.schema import VALUES
from jali.session import Session
from jali.sql.printer import write_question
from jali.stream import StreamView, Tick

if TYPE_CHECKING:
    from jali.catalog.tables import Table
    from jali.execution.streams.stream_declaration import StreamDeclaration
    from jali.ledger import Receipt
    from jali.stream import StreamView


def encode_question(question: str | Question, given: TermArguments) -> dict[str, Any]:
    """Return a question and its terms as plain JSON values."""
    sql = question if isinstance(question, str) else write_question(question)
    return {"sql": sql} | {name: _encode_term(value) for name, value in given.items() if value is not None}


def encode_number(value: Any) -> Any:
    """Return a number: exact ones as texts."""
    return str(value) if isinstance(value, Fraction | Decimal) else value


def encode_part(part: Mapping[str, Any] | SubpopulationRequest) -> dict[str, Any]:
    """Return a part: dates and times say what they are."""
    found = {part.by: part.key} if isinstance(part, SubpopulationRequest) else dict(part)
    return {by: _encode_key_value(key) for by, key in found.items()}


def _encode_term(value: Any) -> Any:
    if isinstance(value, SubpopulationRequest):
        return encode_part(value)
    if isinstance(value, Mapping):
        return {name: _encode_key_value(encode_number(inner)) for name, inner in value.items()}
    return encode_number(value)


def _encode_key_value(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, datetime.date) else value


class RemoteTables:
    """The declared tables, fetched each time."""

    def __init__(self, wire: ServerConnection) -> None:
        self._wire = wire

    def list(self) -> tuple[Table, ...]:
        """Return the protected tables as they are declared, without the curator's folders."""
        reply = self._wire.get("/tables", declarations=True)["declarations"]
        return tuple(PLANS.decode(text) for text in reply)

    def partition_keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the keys of the subpopulations of a table by an expression. They are declared, not read."""
        keys: tuple[Value, ...] = VALUES.of_plain(self._wire.get(f"/tables/{table}/parts", by=by)["keys"])
        return keys


class RemoteStreams:
    """What was published by streams, fetched each time."""

    def __init__(self, wire: ServerConnection) -> None:
        self._wire = wire

    def list(self) -> tuple[str, ...]:
        """Return the names of all streams."""
        return tuple(str(one["stream"]) for one in self._wire.get("/streams")["streams"])

    def view(self, name: str) -> StreamView:
        """Return a stream."""
        return StreamView(self, read_stream_declaration(self._fetch(name)["declaration"]))

    def published(self, declaration: StreamDeclaration) -> int:
        """Return how many ticks were published."""
        return len(self._fetch_bodies(declaration))

    def value(self, declaration: StreamDeclaration, tick: int | None) -> Tick:
        """Return what was published at a tick; by default at the last."""
        bodies = self._fetch_bodies(declaration)
        number = check_published_tick(tick, len(bodies))
        return read_tick(declaration, number, bodies[number - 1])

    def ticks(self, declaration: StreamDeclaration) -> tuple[Tick, ...]:
        """Return all that was published."""
        return tuple(read_tick(declaration, n, body) for n, body in enumerate(self._fetch_bodies(declaration), 1))

    def _fetch_bodies(self, declaration: StreamDeclaration) -> Sequence[str]:
        bodies: Sequence[str] = self._fetch(declaration.name)["bodies"]
        return bodies

    def _fetch(self, name: str) -> dict[str, Any]:
        return self._wire.get(f"/streams/{name}", release=True)


class RemoteDatabase:
    """What a session needs of a database, at a server.

    Whose grants pay is what the server knows of the token: the `analyst` that a session names changes nothing.
    Answers are made here from the plan and the noisy draw that the ledger keeps there, so that they can do
    whatever local ones can.
    """

    def __init__(self, wire: ServerConnection) -> None:
        self._wire = wire

    def ask(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,  # noqa: ARG002 - as a database has it
        on_stage: Stage | None = None,
        **terms: Unpack[TermArguments],
    ) -> Answer:
        """Answer a question."""
        if on_stage is not None:
            on_stage("asking the server")
        reply = self._wire.answer("/ask", encode_question(question, terms) | {"release": True})
        return _build_answer(reply)

    def explain(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,  # noqa: ARG002
        **terms: Unpack[TermArguments],
    ) -> Plan:
        """Plan a question. Free."""
        reply = self._wire.post("/explain", encode_question(question, terms), plan=True)
        known: Plan = PLANS.decode(reply["plan"])
        return replace(known, leaves=tuple((name, left) for name, left in reply["leaves"]))

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
        said = {name: encode_number(value) for name, value in total.items() if value is not None}

        def document(wanted: Sequence[BatchQuestion]) -> dict[str, Any]:
            return said | {"agree": agree, "questions": [_encode_wanted(one) for one in wanted]}

        def plan(wanted: list[BatchQuestion]) -> BatchPlan:
            reply = self._wire.post("/batch/explain", document(wanted))
            known: BatchPlan = BATCHES.decode(reply["plan"])
            return replace(known, leaves=tuple((name, left) for name, left in reply["leaves"]))

        def ask(wanted: list[BatchQuestion], _: BatchPlan) -> BatchAnswer:
            return _build_batch(self._wire.answer("/batch", document(wanted) | {"release": True}))

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
        terms: TermArguments = {"epsilon": epsilon, "rho": rho, "max_rows": max_rows}
        reply = self._wire.post("/removed", encode_question(question, terms))
        clamped, bounded = (
            None if reply[name] is None else self.redeem(reply[name]) for name in ("clamped", "bounded")
        )
        return Removed(clamped, bounded, reply["max_rows"], reply["reach"], tuple(reply["notes"]))

    @property
    def tables(self) -> RemoteTables:
        """The declared tables."""
        return RemoteTables(self._wire)

    @property
    def streams(self) -> RemoteStreams:
        """The streams."""
        return RemoteStreams(self._wire)

    def remaining(
        self,
        table: str,
        *,
        analyst: str | None = None,  # noqa: ARG002
        part: Mapping[str, Value] | SubpopulationRequest | None = None,
    ) -> Remaining:
        """Return the largest loss that a further question would be granted."""
        said = {} if part is None else {"part": json.dumps(encode_part(part))}
        reply = self._wire.get(f"/budgets/{table}", **said)
        return decode_remaining(reply)

    def receipts(self, *, analyst: str | None = None) -> tuple[Receipt, ...]:  # noqa: ARG002
        """Return the latest thousand receipts of whom the token is, oldest first."""
        reply = self._wire.get("/receipts", most=1000)["receipts"]
        return tuple(decode_receipt(one) for one in reversed(reply))

    def redeem(self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None) -> Answer:  # noqa: ARG002
        """Give the one answer that a receipt stands for."""
        return _build_answer(self._wire.answer(f"/receipts/{receipt}/redeem", release=True))

    def redeem_batch(
        self,
        receipt: str,
        *,
        analyst: str | None = None,  # noqa: ARG002
        on_stage: Stage | None = None,  # noqa: ARG002
    ) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for."""
        return _build_batch(self._wire.answer(f"/receipts/{receipt}/redeem", release=True))


def _encode_wanted(wanted: BatchQuestion) -> dict[str, Any]:
    return encode_question(wanted.question, wanted.given) | {"weight": encode_number(wanted.weight)}


def _build_answer(reply: dict[str, Any]) -> Answer:
    found = _build_release(reply)
    if not isinstance(found, Answer):
        raise QueryError("receipt-of-a-batch", receipt=found.receipt)
    return found


def _build_batch(reply: dict[str, Any]) -> BatchAnswer:
    found = _build_release(reply)
    if isinstance(found, Answer):
        raise QueryError("receipt-not-of-a-batch", receipt=found.receipt)
    return found


def _build_release(reply: dict[str, Any]) -> Answer | BatchAnswer:
    release = reply["release"]
    return read_released(release["plan"], reply["receipt"], release["drawn"], cached=reply["cached"]).answer


TOKEN_VARIABLE = "JALI_TOKEN"


def open_session(address: str, token: str | None = None) -> Session:
    """Return a session at a server, for whom the token is.

    Args:
        address: Where the server is: "https://jali.example.org".
        token: What the curator gave; the environment variable JALI_TOKEN by default.
    """
    known = token or os.environ.get(TOKEN_VARIABLE)
    if not known:
        raise CatalogError("server-token-missing")
    try:
        wire = open_connection(address, known)
    except ImportError:
        raise CatalogError("httpx-missing") from None
    return Session(RemoteDatabase(wire), str(wire.get("/me")["name"]))
