"""Where BigQuery finds the rows of a table: in a dataset of a project."""

from __future__ import annotations

from jali.engines.bigquery.literals import quoted
from jali.errors import CatalogError
from jali.query.catalog import Source


def scan(source: Source) -> str:
    """Write the FROM item of a source: project, dataset and table, each quoted by itself.

    Raises:
        CatalogError: if it names no single table. A star would stand for several.
    """
    parts = [source.location, *source.relation.split(".")]
    if len(parts) != 3 or not all(parts) or any(sign in part for part in parts for sign in "*.`"):
        raise CatalogError(
            f"{source.relation!r} is no table of BigQuery.",
            remedy="Name the dataset and the table: clinic.visits.",
        )
    return ".".join(map(quoted, parts))
