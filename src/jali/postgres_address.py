"""Where a Postgres database is: an address without a password, which is in the environment or in a pgpass file."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from jali.errors import CatalogError

_SCHEMES = ("postgresql", "postgres")
# What an address may say besides; what would be a secret, or would change how rows are read, is not among them.
_OPTIONS = frozenset(
    {"sslmode", "sslrootcert", "sslcert", "sslkey", "host", "port", "service", "target_session_attrs"}
)


@dataclass(frozen=True)
class Address:
    """An address as it is stored and shown, and the schema that it names."""

    url: str
    schema: str | None


def is_address(text: str) -> bool:
    """Say whether a text is the address of a Postgres database."""
    return text.split("://", 1)[0].lower() in _SCHEMES and "://" in text


def read_address(text: str) -> Address:
    """Read postgresql://user@host:port/database?schema=clinic&sslmode=require, and refuse a password in it.

    Example:
        >>> read_address("postgres://ana@db.example:5432/clinic?schema=visits")
        Address(url='postgresql://ana@db.example:5432/clinic', schema='visits')
    """
    parts = urlsplit(text)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.password is not None or "password" in options:
        # The address is not repeated: messages end up in logs.
        raise CatalogError("address-with-password")
    schema = options.pop("schema", None)
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise CatalogError("address-option-unknown", option=unknown[0], options=tuple(sorted(_OPTIONS)))
    rest = "&".join(f"{name}={quote(value, safe='/')}" for name, value in sorted(options.items()))
    url = f"postgresql://{_place(parts.netloc)}{parts.path}{'?' + rest if rest else ''}"
    return Address(url, schema or None)


def _place(netloc: str) -> str:
    user, at, host = netloc.rpartition("@")
    return f"{quote(unquote(user))}{at}{host.lower()}"
