"""Write the explanation of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jali.display.text import clean
from jali.explain.aggregate_formulas import aggregate_notes
from jali.explain.labelled_facts import write_forecasts
from jali.planner.batch.batch_plan import BatchPlan
from jali.planner.batch.consistent_answers import ReleaseCluster, find_clusters
from jali.privacy import Event


def render_batch(batch: BatchPlan) -> str:
    """List the questions with their forecasts, what is released together, what agrees, and what it costs."""
    return "\n".join([*_questions(batch), "", *_agreement(batch), "", *_noises(batch), *_costs(batch)])


def _questions(batch: BatchPlan) -> Iterator[str]:
    yield f"A batch of {len(batch.readings)} questions in {len(batch.plans)} releases"
    for number, reading in enumerate(batch.readings, 1):
        plan = batch.plans[reading.place]
        yield f"  [{number}] {clean(reading.written)}"
        yield f"      release {reading.place + 1}, {plan.cost}"
        for note in aggregate_notes(replace(plan, estimates=reading.estimates)):
            yield f"      {clean(note.name)}: {clean('; '.join(write_forecasts(note)))}"


def _agreement(batch: BatchPlan) -> Iterator[str]:
    found = [cluster for cluster in find_clusters(batch) if len(_numbers(batch, cluster)) > 1]
    if not found:
        yield "No answers are made consistent."
    for cluster in found:
        numbers = ", ".join(f"[{n}]" for n in _numbers(batch, cluster))
        yield f"Made consistent: {numbers}, over {cluster.partition.cells:,} common cells."
    if batch.agree and any(plan.aggregation.weights is not None for plan in batch.plans):
        yield "A person's rows are weighted once for all questions about a table, over all rows that any counts."


def _numbers(batch: BatchPlan, cluster: ReleaseCluster) -> list[int]:
    """Return the numbers of the questions that read a cluster."""
    places = {member.plan for member in cluster.members}
    return [number for number, reading in enumerate(batch.readings, 1) if reading.place in places]


def _noises(batch: BatchPlan) -> Iterator[str]:
    if len(batch.ways) > 1:
        least = batch.ways[0][1]
        others = "; ".join(
            f"{name}: {(error / least) ** 0.5:.2f} times the error" for name, error in batch.ways[1:]
        )
        yield f"Noise: {batch.ways[0][0]}. Considered: {others}."


def _costs(batch: BatchPlan) -> Iterator[str]:
    sums = dict(batch.parts)
    for table, cost in batch.costs:
        yield f"{clean(table)} is charged once: {cost}{_instead(sums[table], cost)}."
    for account, left in batch.leaves:
        yield f"Remaining of {clean(account)}: {clean(left)}"


def _instead(parts: Event, cost: Event) -> str:
    return "" if parts == cost else f", instead of the sum of its releases, {parts}"
