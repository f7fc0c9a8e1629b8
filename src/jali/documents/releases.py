"""A release as plain JSON values, from which a client makes the same answer; and the other way round."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any


def release_json(plan: str, drawn: str) -> dict[str, Any]:
    """Return a frozen plan and its noisy draw, without the folders of the curator's machine."""
    return {"plan": without_folders(plan), "drawn": drawn}


def without_folders(plan: str) -> str:
    """Name the files of an encoded plan without their folders, which concern no reader."""
    known = json.loads(plan)
    folders: dict[str, str] = {}
    _collect(known, folders)
    return json.dumps(_renamed(known, folders), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _collect(value: Any, folders: dict[str, str]) -> None:
    """Find the locations of all sources."""
    if isinstance(value, dict):
        if value.get("@") == "Source":
            folders[value["location"]] = PurePath(value["location"]).name
        for inner in value.values():
            _collect(inner, folders)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, folders)


def _renamed(value: Any, folders: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _renamed(inner, folders) for name, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, folders) for inner in value]
    return _said(value, folders) if isinstance(value, str) else value


def _said(text: str, folders: dict[str, str]) -> str:
    """Name files in a text; in the engine's SQL their quotes are doubled."""
    for location, name in folders.items():
        for quote in "'\"":
            text = text.replace(location.replace(quote, quote * 2), name.replace(quote, quote * 2))
    return text
