"""The surfaces that users rely on, written as text.

`python -m tests.frozen.surfaces` writes them anew: what changes in the files is what changes for users.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import typer
import typer.main

HERE = Path(__file__).parent
MODULES = (
    "jali",
    "jali.database_groups",
    "jali.lab.attacks",
    "jali.lab.audit",
    "jali.lab.compare",
    "jali.errors",
    "jali.local",
    "jali.mechanisms",
    "jali.plots",
    "jali.privacy",
    "jali.remote",
    "jali.streams",
)
# Of these, what they import from elsewhere is no surface.
_WITHOUT_IMPORTS = ("jali.errors", "jali.database_groups")


def public_names() -> str:
    """List every public name with its signature, and the public members of classes."""
    return "\n".join(line for module in MODULES for line in _of_module(module)) + "\n"


def _of_module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")]
    yield f"# {name}"
    for each in sorted(public):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # old names work for one release
            value = getattr(module, each)
        if inspect.ismodule(value):
            continue
        if name not in _WITHOUT_IMPORTS or str(getattr(value, "__module__", "")).startswith(name):
            yield from _of_value(each, value)


def _of_value(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        # How an enumeration is called is Python's.
        yield f"class {name}{'' if issubclass(value, Enum) else _signature(value)}"
        for member in sorted(each for each in dir(value) if not each.startswith("_")):
            yield from (f"    {line}" for line in _of_member(value, member))
    elif callable(value):
        yield f"def {name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _of_member(owner: type, name: str) -> Iterator[str]:
    found = inspect.getattr_static(owner, name)
    if issubclass(owner, Enum) and isinstance(getattr(owner, name), owner):
        yield f"{name} = {getattr(owner, name).value!r}"
    elif _inherited(owner, name):
        return
    elif isinstance(found, staticmethod | classmethod):
        yield f"{type(found).__name__} {name}{_signature(found.__func__)}"
    elif inspect.isfunction(found):
        yield f"def {name}{_signature(found)}"
    else:
        yield name


def _inherited(owner: type, name: str) -> bool:
    """Say whether a member comes from the standard library: it is not ours to freeze."""
    holder = next(base for base in owner.__mro__ if name in vars(base) or name in getattr(base, "__slots__", ()))
    return not holder.__module__.startswith("jali")


def _signature(value: Any) -> str:
    """Write a signature: names, kinds and defaults. Annotations may move from class to class."""
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return ""
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    written = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    # Defaults that are functions or objects are written with their address.
    return re.sub(r"<(function|class|jali\S*|object)? ?'?([\w.]+)'?[^>]*>", r"<\2>", written)


def old_names() -> str:
    """List the old spellings that still work, with the new ones."""
    from jali.deprecated import RENAMED

    return "".join(f"{old} -> {new}\n" for old, new in sorted(RENAMED.items()))


def command_line() -> str:
    """List every verb with its arguments and options: names, kinds, defaults, help."""
    from jali.cli.app import app

    return "\n".join(_of_command("jali", typer.main.get_command(app))) + "\n"


def _of_command(path: str, command: Any) -> Iterator[str]:
    yield f"$ {path}"
    yield from (f"  {line}".rstrip() for line in inspect.cleandoc(command.help or "").splitlines())
    for parameter in command.params:
        names = " / ".join([*parameter.opts, *parameter.secondary_opts])
        kind = parameter.display_type(typer.Context(command))
        required = " required" if parameter.required else ""
        text = getattr(parameter, "help", None) or ""
        yield f"  {names} ({kind}, default {parameter.default!r}{required}): {text}"
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from _of_command(f"{path} {name}", each)


def exit_codes() -> str:
    """List the exit code of each error and of all else that can happen."""
    from jali.cli import app, errors

    codes = {kind.__name__: code for kind, code in errors.EXIT_CODES}
    named = {
        "wrong use": errors.WRONG_USE,
        "refused by a budget": errors.REFUSED,
        "unsupported": errors.UNSUPPORTED,
        "failed": errors.FAILED,
        "interrupted": app.INTERRUPTED,
    }
    return "".join(f"{name}: {code}\n" for name, code in (codes | named).items())


def http() -> str:
    """Write the OpenAPI document."""
    import jali
    from jali.server.app import make_app

    with jali.connect() as database:
        document = make_app(database).openapi()
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


SURFACES: Mapping[str, Callable[[], str]] = {
    "public_names.txt": public_names,
    "old_names.txt": old_names,
    "command_line.txt": command_line,
    "exit_codes.txt": exit_codes,
    "openapi.json": http,
}

if __name__ == "__main__":
    for file, written in SURFACES.items():
        (HERE / file).write_text(written(), encoding="utf-8")
