"""The generated table behind an oracle with a database, in a file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

TABLE = "people"


class People:
    """A file of generated people, each a row; its columns are given by name.

    It is in a folder of its own until it is deleted.
    """

    def __init__(self, columns: Mapping[str, Sequence[int] | Sequence[str]]) -> None:
        self.folder = tempfile.mkdtemp(prefix="jali-attacks-")
        self.path = Path(self.folder) / f"{TABLE}.parquet"
        rows = "SELECT " + ", ".join(f"unnest(${name}) AS {name}" for name in columns)
        # COPY takes no parameter for a path.
        quoted = str(self.path).replace("'", "''")
        _writer().cursor().execute(
            f"COPY ({rows}) TO '{quoted}'", {name: list(column) for name, column in columns.items()}
        )

    def delete(self) -> None:
        """Delete the file and its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@lru_cache(maxsize=1)
def _writer() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect()
