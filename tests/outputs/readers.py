"""Everything that an answer can be asked for."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow.parquet as pq

import jali
from jali.answer import Answer
from jali.server.pages.answer_view import build_answer_view


def _json(answer: Answer) -> Any:
    """What `to_json` gives, and what a server sends, is JSON: it is written and read again."""
    sent = json.dumps(answer.to_json(0.9), allow_nan=False)
    assert json.loads(sent)["columns"] == list(answer.columns)
    return sent


def _plotted(answer: Answer) -> Any:
    """What can be drawn; a column of words is refused."""
    drawn = []
    for column in (None, *answer.columns):
        with suppress(jali.errors.QueryError):
            drawn += answer.plot_data(column)
    return drawn


def _every_column(read: Callable[[Answer, str], Any]) -> Callable[[Answer], Any]:
    return lambda answer: [read(answer, column) for column in answer.columns]


READERS: dict[str, Callable[[Answer], Any]] = {
    "rows": lambda answer: [len(row) for row in answer.rows],
    "text": str,
    "one line": repr,
    "summary": Answer.summary,
    "html": Answer._repr_html_,
    "intervals": Answer.interval,
    "narrow intervals": lambda answer: answer.interval(0.5),
    "wide intervals": lambda answer: answer.interval(0.999999),
    "intervals for the population": lambda answer: answer.interval(sampling=True),
    "sampling errors": _every_column(lambda answer, column: answer.sampling_error(column)),
    "whether they are bounds": _every_column(lambda answer, column: answer.sampling_at_most(column)),
    "removed rows": Answer.removed_rows,
    "remarks": lambda answer: answer.remarks,
    "totals": lambda answer: answer.totals,
    "group sizes": lambda answer: answer.group_sizes,
    "dictionaries": Answer.to_dicts,
    "json": _json,
    "csv": Answer.to_csv,
    "arrow": lambda answer: answer.to_arrow().validate(full=True),
    "pandas": Answer.to_pandas,
    "polars": Answer.to_polars,
    "parquet": lambda answer: pq.read_table(io.BytesIO(answer.to_parquet())),
    "plot": _plotted,
    "page": lambda answer: [build_answer_view(answer, column) for column in answer.columns],
}


def read(answer: Answer) -> dict[str, str]:
    """Ask an answer for everything; return what failed, by its name."""
    failed = {}
    for name, reader in READERS.items():
        try:
            reader(answer)
        except Exception as problem:
            failed[name] = f"{type(problem).__name__}: {problem}"
    return failed
