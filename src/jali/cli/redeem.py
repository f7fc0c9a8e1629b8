"""`jali redeem`: the one answer that a receipt stands for."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import Analyst, AsJson, Confidence, DatabasePath
from jali.cli.terminal import Stages
from jali.cli.writing import check_confidence, write_answer


def redeem(
    database: DatabasePath,
    receipt: Annotated[str, typer.Argument(metavar="RECEIPT", help="As `jali ledger` shows it.")],
    analyst: Analyst = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Give the one answer that a receipt stands for: after a crash, or again. It costs nothing more.

    Example: [bold]jali redeem clinic.jali 81f84f0fbcd874920370a0f4cd823aa4[/bold]
    """
    check_confidence(confidence)
    with open_database(database) as opened:
        with Stages() as stages:
            answer = opened.redeem(receipt, analyst=analyst, on_stage=stages)
        write_answer(answer, opened, analyst=analyst, confidence=confidence, as_json=as_json)
