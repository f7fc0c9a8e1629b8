"""Top k: a ranking of the largest counts."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from jali.errors import MechanismError
from jali.mechanisms.applications.choice import Choice, Counts, Task, keys_and_counts
from jali.mechanisms.mechanism import natural
from jali.mechanisms.selection.gumbel_top_k import GumbelTopK
from jali.mechanisms.selection.joint_top_k import JointTopK
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

Mechanisms: TypeAlias = Literal["joint", "gumbel"]
_ASSUMED = (
    "The keys are public: they do not depend on the data.",
    "One unit adds at most `sensitivity` to each count, and lowers none.",
    "The error is about every place i: its count is at most so far below the i-th largest.",
)


def top_k(
    counts: Counts,
    k: int,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    mechanism: Mechanisms = "joint",
    confidence: float = 0.99,
    bits: BitSource | None = None,
) -> Choice:
    """Return the keys of k large counts, largest first.

    Args:
        counts: A mapping of public keys to counts, or a list of counts. A record may count for any number of keys.
        k: How many.
        epsilon: The loss of the whole ranking.
        adjacency: When two tables are neighbours.
        sensitivity: How much one unit adds to a count at most.
        mechanism: `joint` chooses the ranking at once; `gumbel` picks one key after the other, which composes
            better with many other releases (its zCDP loss is epsilon^2/(8k)).
        confidence: The chance that the error holds.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.mechanisms import top_k
        >>> films = {"Ran": 90, "Heat": 40, "Alien": 75, "Big": 2}
        >>> ranked = top_k(films, 2, epsilon=1, adjacency="add-remove")
        >>> len(ranked.choice), set(ranked.choice) <= set(films)
        (2, True)
    """
    task = top_k_task(
        counts, k, epsilon=epsilon, adjacency=adjacency, sensitivity=sensitivity, mechanism=mechanism
    )
    return task.choose(confidence, bits)


def top_k_task(
    counts: Counts,
    k: int,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    mechanism: Mechanisms = "joint",
) -> Task:
    """Return the choice of k large counts, not yet made."""
    if mechanism not in get_args(Mechanisms):
        raise MechanismError("top-k-mechanism-unknown", mechanism=mechanism)
    keys, values = keys_and_counts(counts)
    if natural(k, "k") > len(keys):
        raise MechanismError("top-k-too-few-keys", k=k, count=len(keys))
    neighbours = Adjacency.of(adjacency)
    chooser: JointTopK | GumbelTopK
    if mechanism == "joint":
        chooser = JointTopK(k=k, sensitivity=sensitivity, epsilon=epsilon, adjacency=neighbours)
    else:
        monotone = neighbours is Adjacency.ADD_REMOVE
        chooser = GumbelTopK(
            k=k, sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, adjacency=neighbours
        )
    shape = {"candidates": len(keys)}
    return Task(chooser, neighbours, values, lambda ranks: tuple(keys[rank] for rank in ranks), _ASSUMED, shape)
