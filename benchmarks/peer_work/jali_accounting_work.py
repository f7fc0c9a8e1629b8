"""Jali's side of the accounting benchmark: prints epsilon and CPU seconds of each case as JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from jali.privacy import GaussianLoss, LaplaceLoss, Loss, PrivacyLossDistribution, SubsampledLoss


def main(cases: dict[str, Any]) -> None:
    """Measure each case once, after a warm-up with other parameters: nothing is remembered from it."""
    results = {}
    for name, case in cases.items():
        _epsilon(case, stretch=1.01)
        start = time.process_time()
        epsilon = _epsilon(case, stretch=1)
        results[name] = epsilon, time.process_time() - start
    print(json.dumps(results))


def _epsilon(case: dict[str, Any], stretch: float) -> float:
    parts = [(_loss(part, stretch), part["count"]) for part in case["parts"]]
    return PrivacyLossDistribution(parts).epsilon(case["delta"])


def _loss(part: dict[str, Any], stretch: float) -> Loss:
    noise = part["noise"] * stretch
    loss: Loss = LaplaceLoss(noise) if part["kind"] == "laplace" else GaussianLoss(noise)
    if part["rate"] == 1:
        return loss
    return SubsampledLoss(loss, part["rate"], sampling="poisson", adjacency="add-remove")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
