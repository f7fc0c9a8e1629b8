"""Where Spark finds the rows of a table (its catalog, or Parquet files), and the kinds of its column types.

The type of a column is frozen when a table is protected, and every read casts to it.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from jali.catalog.columns import Field, Kind
from jali.catalog.copy_names import SCHEMA
from jali.catalog.tables import Source
from jali.engines.spark.literals import quote
from jali.errors import CatalogError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_WHOLE = {"tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INT", "bigint": "BIGINT"}
NAMES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
    Kind.OTHER: "STRING",
}
_KINDS = {
    "double": Kind.REAL,
    "float": Kind.REAL,
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP,
}
_TEXTS = ("string", "char(", "varchar(")


def field_of(name: str, written: str) -> Field:
    """Return the column of a Spark type, as `simpleString` writes it.

    Decimal and single-precision numbers are read as doubles, texts of any collation by their bytes, and times with
    a time zone as the time in UTC.
    """
    if written in _WHOLE:
        return Field(name, Kind.INTEGER, type=_WHOLE[written])
    if written.startswith("decimal"):
        kind = Kind.REAL
    elif written.startswith(_TEXTS):
        kind = Kind.TEXT
    else:
        kind = _KINDS.get(written, Kind.OTHER)
    return Field(name, kind, type=NAMES[kind])


def type_name(kind: Kind) -> str:
    """Return the Spark type that holds values of a kind."""
    return NAMES[kind]


# The location of a source whose session is given in Python.
GIVEN = "session"
PARQUET = "parquet:"
# A prepared copy that lies in a folder: the catalog knows it by a name that is made of the path.
KEPT = "kept:"
# Spark would take a path with one of these for a pattern.
_PATTERN = frozenset("*?[]{}")
_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^\s.`]+))\s*(\.|$)")


def scan(source: Source) -> str:
    """Write the FROM item of a source."""
    if source.relation.startswith(PARQUET):
        return f"parquet.{quote(_path(source.relation.removeprefix(PARQUET)))}"
    if source.relation.startswith(KEPT):
        return name_copy(PurePath(source.relation.removeprefix(KEPT)))
    return ".".join(quote(part) for part in parts_of(source.relation))


def name_copy(folder: PurePath) -> str:
    """Write the name of a copy that lies in a folder: of this very folder, though another may be called alike."""
    word = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return catalog_name(SCHEMA, f"{folder.name.replace('.', '_')}_{word}")


def catalog_name(*parts: str) -> str:
    """Write the name of something in Spark's own catalog, whichever is the current one."""
    return ".".join(quote(part) for part in ("spark_catalog", *parts))


def parts_of(relation: str) -> list[str]:
    """Return the parts of a table's name: catalog and schema where they are written, and the table.

    Example:
        >>> parts_of("db.`my visits`")
        ['db', 'my visits']

    Raises:
        CatalogError: if it is no name.
    """
    found, place = [], 0
    while match := _PART.match(relation, place):
        found.append((match[1] or "").replace("``", "`") or match[2])
        place = match.end()
        if match[3] == "" or place == len(relation):
            break
    if not found or place < len(relation) or relation.rstrip().endswith("."):
        raise CatalogError("spark-relation-malformed", relation=relation)
    return found


def place_of(session: SparkSession, source: Source) -> tuple[str, ...]:
    """Return where the files of a source are: the same for all names of a table, and for its files themselves."""
    if source.relation.startswith(PARQUET):
        return ("path", local_path(source.relation.removeprefix(PARQUET)))
    described = session.sql(f"DESCRIBE TABLE EXTENDED {scan(source)}").collect()
    (location,) = (row.data_type for row in described if row.col_name == "Location")
    return ("path", local_path(location))


def fingerprint_of(session: SparkSession, source: Source) -> str:
    """Return a digest of the files of a source: their names, and where they are on this machine, size and time."""
    kind, place = place_of(session, source)
    if kind == "path" and Path(place).exists():
        files = sorted(path for path in (Path(place), *Path(place).rglob("*")) if path.is_file())
        facts = [(str(path), *_status(path)) for path in files]
        return hashlib.sha256(repr(facts).encode()).hexdigest()
    names = sorted(session.sql(f"SELECT * FROM {scan(source)}").inputFiles())
    return hashlib.sha256(repr((place, names)).encode()).hexdigest()


def _status(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def local_path(written: str) -> str:
    """Write a path in one way; one of another file system stays as it is, but for what ends it."""
    plain = re.sub(r"^file:/*", "/", written)
    return written.rstrip("/") if re.match(r"\w+:/", plain) else str(Path(plain).resolve())


def _path(path: str) -> str:
    if not path or _PATTERN & set(path):
        raise CatalogError("spark-path-malformed", path=path)
    return path
