"""Encode a release as plain JSON values, from which a client makes the same answer."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any


def encode_release(plan: str, drawn: str) -> dict[str, Any]:
    """Return a frozen plan and its noisy draw, without the folders of the curator's machine."""
    return {"plan": strip_folders(plan), "drawn": drawn}


def strip_folders(plan: str) -> str:
    """Name the files of an encoded plan without their folders, which concern no reader."""
    known = json.loads(plan)
    folders: dict[str, str] = {}
    _collect_folders(known, folders)
    return json.dumps(_replace_folders(known, folders), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _collect_folders(value: Any, folders: dict[str, str]) -> None:
    """Find the locations of all sources."""
    if isinstance(value, dict):
        if value.get("@") == "Source":
            folders[value["location"]] = PurePath(value["location"]).name
        for inner in value.values():
            _collect_folders(inner, folders)
    elif isinstance(value, list):
        for inner in value:
            _collect_folders(inner, folders)


def _replace_folders(value: Any, folders: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _replace_folders(inner, folders) for name, inner in value.items()}
    if isinstance(value, list):
        return [_replace_folders(inner, folders) for inner in value]
    return _replace_in_text(value, folders) if isinstance(value, str) else value


def _replace_in_text(text: str, folders: dict[str, str]) -> str:
    """Name files in a text; in the engine's SQL their quotes are doubled."""
    for location, name in folders.items():
        for quote in "'\"":
            text = text.replace(location.replace(quote, quote * 2), name.replace(quote, quote * 2))
    return text
