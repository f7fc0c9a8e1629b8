"""What users rely on changes on purpose only: a name, an option, an exit code, a field of a document."""

from __future__ import annotations

import pytest
from tests.frozen.surfaces import HERE, SURFACES


@pytest.mark.parametrize("file", SURFACES)
def test_a_surface_is_as_it_was_frozen(file: str) -> None:
    """Write it anew by `python -m tests.frozen.surfaces`, and tell users in CHANGELOG.md."""
    assert SURFACES[file]().splitlines() == (HERE / file).read_text(encoding="utf-8").splitlines()
