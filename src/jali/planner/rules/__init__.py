"""The rules that turn a question into a plan, one in each module, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from jali.planner.draft import Draft
from jali.planner.rules.bound_contributions import bound_contributions
from jali.planner.rules.bound_joins import bound_joins
from jali.planner.rules.bound_per_group import bound_per_group
from jali.planner.rules.choose_keys import choose_keys
from jali.planner.rules.choose_mechanisms import choose_mechanisms
from jali.planner.rules.choose_norm import choose_norm
from jali.planner.rules.choose_rank import choose_rank
from jali.planner.rules.measure_aggregates import measure_aggregates
from jali.planner.rules.qualify_names import qualify_names
from jali.planner.rules.split_loss import split_loss

RULES: tuple[Callable[[Draft], Draft], ...] = (
    qualify_names,
    bound_joins,
    choose_keys,
    bound_per_group,
    bound_contributions,
    choose_rank,
    measure_aggregates,
    choose_norm,
    split_loss,
    choose_mechanisms,
)
