"""Old spellings of public names. Each works for one release and warns with the new spelling.

`RENAMED` is the one table. A name that leaves `jali`, `jali.mechanisms` or `Database` gets a line here, and is
deleted with the next release.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any

# "import x": the module stays where it is, and whoever uses it imports it.
RENAMED: Mapping[str, str] = {
    "jali.CatalogError": "jali.errors.CatalogError",
    "jali.Database.accounts": "jali.Database.ledger.accounts",
    "jali.Database.attach": "jali.Database.tables.attach",
    "jali.Database.catalog": "jali.Database.tables.catalog",
    "jali.Database.check": "jali.Database.tables.check",
    "jali.Database.drop_prepared": "jali.Database.tables.drop_prepared",
    "jali.Database.durable": "jali.Database.ledger.durable",
    "jali.Database.failure": "jali.Database.ledger.failure",
    "jali.Database.is_batch": "jali.Database.ledger.is_batch",
    "jali.Database.latest_receipts": "jali.Database.ledger.latest_receipts",
    "jali.Database.part_keys": "jali.Database.tables.partition_keys",
    "jali.Database.public_tables": "jali.Database.tables.list_public",
    "jali.Database.state": "jali.Database.tables.state",
    "jali.Database.stream_bodies": "jali.Database.streams.bodies",
    "jali.Database.stream_view": "jali.Database.streams.view",
    "jali.Database.streams()": "jali.Database.streams.list()",
    "jali.Database.table_named": "jali.Database.tables.find",
    "jali.Database.tables()": "jali.Database.tables.list()",
    "jali.Database.version": "jali.Database.tables.version",
    "jali.EngineError": "jali.errors.EngineError",
    "jali.LedgerError": "jali.errors.LedgerError",
    "jali.MechanismError": "jali.errors.MechanismError",
    "jali.QueryError": "jali.errors.QueryError",
    "jali.Unsupported": "jali.errors.Unsupported",
    "jali.attacks": "jali.lab.attacks",
    "jali.audit": "jali.lab.audit",
    "jali.compare": "jali.lab.compare.compare",
    "jali.local": "import jali.local",
    "jali.mechanisms.Additive": "jali.mechanisms.additive.additive_noise.Additive",
    "jali.mechanisms.Alternatives": "jali.mechanisms.workloads.best_for.Alternatives",
    "jali.mechanisms.Bounded": "jali.mechanisms.stability.bounded_sensitivity.Bounded",
    "jali.mechanisms.Choice": "jali.mechanisms.selection.largest_counts.Choice",
    "jali.mechanisms.ConditionedCells": "jali.mechanisms.workloads.noisy_cells.ConditionedCells",
    "jali.mechanisms.CubeAnswers": "jali.mechanisms.workloads.noisy_answers.CubeAnswers",
    "jali.mechanisms.Fit": "jali.mechanisms.regression.normal_equations.Fit",
    "jali.mechanisms.GroupSizes": "jali.mechanisms.partition_selection.group_selection.GroupSizes",
    "jali.mechanisms.Line": "jali.mechanisms.regression.theil_sen.Line",
    "jali.mechanisms.Measured": "jali.mechanisms.stability.bounded_sensitivity.Measured",
    "jali.mechanisms.NoisyAnswers": "jali.mechanisms.workloads.noisy_answers.NoisyAnswers",
    "jali.mechanisms.NoisyCells": "jali.mechanisms.workloads.noisy_cells.NoisyCells",
    "jali.mechanisms.NoisyMean": "jali.mechanisms.quantiles.clipped_mean.NoisyMean",
    "jali.mechanisms.PriceRange": "jali.mechanisms.selection.best_price.PriceRange",
    "jali.mechanisms.Proposal": "jali.mechanisms.stability.propose_test_release.Proposal",
    "jali.mechanisms.Searched": "jali.mechanisms.sensitivity_search.Searched",
    "jali.mechanisms.Specimen": "jali.mechanisms.base.Specimen",
    "jali.mechanisms.Stable": "jali.mechanisms.stability.stable_value.Stable",
    "jali.mechanisms.Told": "jali.mechanisms.stability.stable_answers.StableAnswer",
    "jali.mechanisms.Watch": "jali.mechanisms.noisy_threshold.Watch",
    "jali.mechanisms.best_beta": "jali.mechanisms.smooth.choose_noise.best_beta",
    "jali.mechanisms.end_offset": "jali.mechanisms.quantiles.weighted_quantile.end_offset",
    "jali.mechanisms.inner_offset": "jali.mechanisms.quantiles.weighted_quantile.inner_offset",
    "jali.mechanisms.interval_shares": "jali.mechanisms.quantiles.weighted_quantile.interval_shares",
    "jali.mechanisms.rank_reach": "jali.mechanisms.quantiles.weighted_quantile.rank_reach",
    "jali.mechanisms.shared_pairs": "jali.mechanisms.stability.bounded_sensitivity.shared_pairs",
    "jali.noise": "jali.sampling",
    "jali.plots": "import jali.plots",
}


def find_renamed(owner: str, name: str) -> Any:
    """Return what an old name of a module stands for, and warn the caller.

    Raises:
        AttributeError: There is no such old name.
    """
    old = f"{owner}.{name}"
    # `from jali import plots` asks for the attribute before it imports the submodule, which is the new spelling.
    importing = sys._getframe(2).f_globals.get("__name__") == "importlib._bootstrap"
    if old not in RENAMED or importing:
        raise AttributeError(f"module {owner!r} has no attribute {name!r}")
    found = resolve_name(RENAMED[old].removeprefix("import "))
    _warn(old, RENAMED[old], 4)
    return found


def forward_module(old: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module that was renamed: it finds its names in the new one, and warns."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(resolve_name(RENAMED[old]), name)
        _warn(old, RENAMED[old], 3)
        return found

    return find


def warn_of_method(kind: str, old: str, stacklevel: int = 3) -> str:
    """Warn about an old method of a class, and return the path to the new one, such as "ledger.accounts".

    Raises:
        AttributeError: There is no such old name.
    """
    new = RENAMED.get(f"jali.{kind}.{old}")
    if new is None:
        raise AttributeError(f"{kind!r} object has no attribute {old!r}")
    _warn(f"{kind}.{old}", new.removeprefix("jali."), stacklevel + 1)
    return new.removeprefix(f"jali.{kind}.").removesuffix("()")


def _warn(old: str, new: str, stacklevel: int) -> None:
    said = f"needs {new!r}" if new.startswith("import ") else f"is now {new}"
    warnings.warn(f"{old} {said}; the old spelling works for one release", DeprecationWarning, stacklevel)
