"""The address of a ledger in Postgres: a URL without a password, and a schema."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jali.errors import CatalogError
from jali.postgres_address import read_address

SCHEMA = "jali"
_SCHEMA_NAME = re.compile(r"(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class Address:
    """Where a ledger is kept in Postgres.

    Attributes:
        url: What libpq connects by. The password is not in it: libpq finds it in PGPASSWORD or ~/.pgpass.
        schema: The schema that the ledger's tables are in.
    """

    url: str
    schema: str = SCHEMA

    @classmethod
    def of(cls, place: str) -> Address:
        """Read an address; `?schema=` names a schema other than `jali`.

        Example:
            >>> Address.of("postgres://jali@localhost/clinic?schema=trial")
            Address(url='postgresql://jali@localhost/clinic', schema='trial')
        """
        try:
            found = read_address(place)
        except ValueError:
            found = None
        # Raised here, and without what was given: that may hold a password which is written wrongly.
        if found is None:
            raise CatalogError("postgres-address-malformed")
        schema = found.schema or SCHEMA
        if _SCHEMA_NAME.fullmatch(schema) is None:
            raise CatalogError("postgres-schema-malformed")
        return cls(found.url, schema)

    @property
    def name(self) -> str:
        """The address as people write it."""
        if self.schema == SCHEMA:
            return self.url
        return f"{self.url}{'&' if '?' in self.url else '?'}schema={self.schema}"
