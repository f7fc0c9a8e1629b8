"""dp_accounting's side of the accounting benchmark: prints epsilon and CPU seconds of each case as JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from dp_accounting.pld import privacy_loss_distribution as pld


def main(cases: dict[str, Any]) -> None:
    """Measure each case once, after a warm-up with other parameters, as on Jali's side."""
    results = {}
    for name, case in cases.items():
        _epsilon(case, stretch=1.01)
        start = time.process_time()
        epsilon = _epsilon(case, stretch=1)
        results[name] = epsilon, time.process_time() - start
    print(json.dumps(results))


def _epsilon(case: dict[str, Any], stretch: float) -> float:
    total = None
    for part in case["parts"]:
        composed = _law(part, stretch).self_compose(part["count"])
        total = composed if total is None else total.compose(composed)
    assert total is not None
    return float(total.get_epsilon_for_delta(case["delta"]))


def _law(part: dict[str, Any], stretch: float) -> Any:
    noise = part["noise"] * stretch
    if part["kind"] == "laplace":
        return pld.from_laplace_mechanism(noise, sampling_prob=part["rate"])
    return pld.from_gaussian_mechanism(noise, sampling_prob=part["rate"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
