"""`jali redeem`: give the one answer that a receipt stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.errors import attach_context
from jali.cli.options import Analyst, AsJson, Confidence, DatabasePath, open_database
from jali.cli.output import StageProgress, check_confidence, write_answer
from jali.cli.verbs.batch import write_batch
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.database import Database

SHORTEST = 6


def redeem(
    database: DatabasePath,
    receipt: Annotated[
        str,
        typer.Argument(
            metavar="RECEIPT", help="The receipt, or at least its first 6 characters; see `jali ledger`."
        ),
    ],
    analyst: Analyst = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Redeem a receipt for its answer, after a crash or again. Nothing more is spent.

    Example: [bold]jali redeem clinic.jali 81f84f0fbcd874920370a0f4cd823aa4[/bold]
    """
    check_confidence(confidence)
    with open_database(database) as opened, attach_context(database, analyst=analyst):
        whole = _complete_receipt(opened, receipt, analyst)
        if opened.ledger.is_batch(whole):
            with StageProgress() as stages:
                found = opened.redeem_batch(whole, analyst=analyst, on_stage=stages)
            write_batch(found, None, opened, analyst=analyst, confidence=confidence, as_json=as_json)
            return
        with StageProgress() as stages:
            answer = opened.redeem(whole, analyst=analyst, on_stage=stages)
        write_answer(answer, opened, analyst=analyst, confidence=confidence, as_json=as_json)


def _complete_receipt(database: Database, receipt: str, analyst: str | None) -> str:
    """Return the one receipt that begins like this; what none begins like is left to the ledger to refuse."""
    begun = receipt.removesuffix("…")
    if len(begun) < SHORTEST:
        raise CatalogError("receipt-too-short", receipt=receipt, least=SHORTEST)
    found = [known.id for known in database.receipts(analyst=analyst) if known.id.startswith(begun)]
    if len(found) > 1:
        raise CatalogError("receipt-ambiguous", count=len(found), receipt=begun)
    return found[0] if found else receipt
