"""Releases travel without the folders of the curator's machine."""

from __future__ import annotations

import json

from jali.client.release_documents import strip_folders


def test_files_are_named_without_their_folders_also_in_sql() -> None:
    place = "/home/cara's/it/visits.parquet"
    quoted = place.replace("'", "''")
    plan = {
        "source": {"@": "Source", "format": "parquet", "location": place},
        "parts": [{"sql": f"SELECT 1 FROM read_parquet('{quoted}')"}],
        "other": ["unchanged", 1, None],
    }
    told = json.loads(strip_folders(json.dumps(plan)))
    assert told["source"]["location"] == "visits.parquet"
    assert told["parts"][0]["sql"] == "SELECT 1 FROM read_parquet('visits.parquet')"
    assert told["other"] == plan["other"]


def test_what_has_no_source_is_left_as_it_is() -> None:
    assert json.loads(strip_folders('{"a": [1, "b"]}')) == {"a": [1, "b"]}
