"""The page docs/errors.md, written from the catalogue.

`python -m tests.errors.page` writes it anew.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter

from tests.errors.raising import makings

import jali.errors
from jali.errors import JaliError, catalogue
from jali.errors.templates import Text, load_texts

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
_HEAD = """# Errors

Every error of Jali is a `JaliError` with a stable **code**, **fields** (columns, tables, numbers: what its text
names), a **message**, a **remedy** and, where it is about a place in the SQL, a **position**. Programs look at
codes and fields: texts may change.

```python
try:
    answer = session.ask("SELECT SUM(age) FROM visits", epsilon=0.1)
except jali.JaliError as error:
    print(error.code, error.fields)
    # range-undeclared {'column': 'age', 'expression': 'age'}
    print(error.message, error.remedy, error.position)
```

The command line (`--json`), HTTP and sessions at a server show the same codes and fields: see
[cli.md](cli.md#exit-codes) and [server.md](server.md#errors). Below are the texts for Python. The command line
names options and verbs where Python has arguments and calls; a page names its forms.

What stands in braces is a field, and `[one / other]` depends on one. Codes without a class are pieces of other
texts: reasons and remedies.

"""


def page() -> str:
    """Return the whole page."""
    return _HEAD + "\n".join(_section(name, area) for name, area in sorted(catalogue.read_areas().items()))


# Errors whose code is found while Jali runs, by how it begins.
_FAMILIES = {
    "batch-question": "QueryError",
    "budget-exceeded": "BudgetExceeded",
    "field-": "JaliError",
    "ledger-": "LedgerError",
    "server-failed": "JaliError",
    "server-said": "JaliError",
}


@cache
def classes() -> Mapping[str, tuple[str, ...]]:
    """Return the classes of the errors of each code."""
    found = {
        code: {kind}
        for beginning, kind in _FAMILIES.items()
        for code in load_texts()
        if code.startswith(beginning)
    }
    for making in makings():
        for code in making.codes:
            found.setdefault(code, set()).update(_public(making.makes))
    return {code: tuple(sorted(kinds)) for code, kinds in found.items()}


def _public(kind: str) -> Iterator[str]:
    """Yield the public class of an error; a server's own errors are plain ones elsewhere, a phrase is none."""
    found = JaliError if kind == "RequestRefused" else getattr(jali.errors, kind, None)
    if found is not None and issubclass(found, JaliError):
        yield found.__name__


def _section(name: str, area: Mapping[str, Text]) -> str:
    about = (importlib.import_module(f"jali.errors.catalogue.{name}").__doc__ or "").splitlines()[0]
    title = about.removeprefix("Texts about ").removeprefix("Texts of ").rstrip(".")
    rows = "\n".join(_row(code, text) for code, text in area.items())
    return f"## {title[0].upper()}{title[1:]}\n\n| Code | Class | Message | Remedy |\n|---|---|---|---|\n{rows}\n"


def _row(code: str, text: Text) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in classes().get(code, ()))
    return f"| `{code}` | {kinds} | {_shown(text.message)} | {_shown(text.remedy or '')} |"


def _shown(template: str) -> str:
    """Write a template for the eye: fields by their names alone."""
    return "".join(_parts(template)).replace("|", "\\|").replace("<", "\\<")


def _parts(template: str) -> Iterator[str]:
    for literal, name, spec, _ in Formatter().parse(template):
        yield literal.replace("*", "\\*").replace("_", "\\_")
        if name is not None and spec and spec.startswith("?"):
            yield f"[{' / '.join(filter(None, (''.join(_parts(branch)) for branch in _branches(spec[1:]))))}]"
        elif name is not None:
            yield f"{{{name}}}"


def _branches(spec: str) -> tuple[str, str]:
    """Split two branches at the bar that is in no braces."""
    depth = 0
    for place, sign in enumerate(spec):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "|" and depth == 0:
            return spec[:place], spec[place + 1 :]
    return spec, ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
