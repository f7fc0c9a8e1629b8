"""Float reachability: no output tells which of two neighbouring values it came from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.depth import thinned

from jali.mechanisms import Gaussian, Laplace, LInfinity, Staircase

DRAWS = 20_000


def unreachable(outputs: np.ndarray, value: float) -> float:
    """Return the share of outputs that no floating-point noise on `value` could have given."""
    return float(np.mean((outputs - value) + value != outputs))


def test_the_check_flags_floating_point_laplace_noise() -> None:
    """Mironov 2012: noise on 0 has low bits that noise on 1 cannot have: two outputs in five tell."""
    outputs = 0.0 + np.random.default_rng(1).laplace(0.0, 1.0, DRAWS)
    assert unreachable(outputs, 1.0) >= 0.4


@pytest.mark.parametrize("step", [None, "1/1024", "1e-3"])
@pytest.mark.parametrize("make", [lambda **o: Laplace(epsilon=1, **o), lambda **o: Gaussian(rho="1/2", **o)])
def test_no_output_of_ours_is_out_of_reach_of_a_neighbour(make: object, step: str | None) -> None:
    mechanism = make(sensitivity=1, step=step, dimension=DRAWS if step else 1)  # type: ignore[operator]
    values = np.zeros(DRAWS, np.int64 if step is None else np.float64)
    outputs = np.asarray(mechanism.release(values))
    lattice = 1.0 if step is None else float(mechanism.lattice.step)
    steps = np.rint(outputs / lattice)
    # Every output is the double nearest to a lattice point, and the neighbour's outputs are the same points.
    assert np.array_equal(steps * lattice, outputs) or np.allclose(steps * lattice, outputs, rtol=1e-15, atol=0)
    assert mechanism.lattice.integers(np.asarray(1.0 if step else 1)).item() == round(1 / lattice)
    if step != "1e-3":
        assert unreachable(outputs, 1.0) == 0


@thinned(4)
@pytest.mark.parametrize("step", ["1/1024", "1e-3"])
@pytest.mark.parametrize("value", [0.1, 1.1, 1e9 / 3])
def test_other_noises_release_points_of_the_lattice_too(value: float, step: str) -> None:
    several = LInfinity(sensitivity=1, epsilon=1, dimension=500, step=step)
    one = Staircase(sensitivity=1, epsilon=1, step=step)
    outputs = [*several.release(np.full(500, value)).tolist(), *(one.release(value) for _ in range(500))]
    lattice = Fraction(step)
    assert all(float(round(Fraction(output) / lattice) * lattice) == output for output in outputs)


def test_answers_of_the_database_lie_on_a_public_lattice() -> None:
    import pyarrow as pa

    import jali

    with jali.connect() as db:
        table = pa.table({"id": [1, 2, 3], "x": [0.1, 0.7, 0.30000000000000004]})
        db.protect("t", table, unit="id", max_rows=3, columns={"x": jali.Range(0, 1)}, budget=jali.Budget(10))
        for sql in ("SELECT SUM(x) FROM t", "SELECT COUNT(*) FROM t", "SELECT SUM(x), COUNT(*) FROM t"):
            (part,) = db.explain(sql, epsilon=1).parts
            measures = zip(part.aggregation.measures, part.mechanisms, strict=True)
            # Measures that leave together are multiplied by whole numbers first.
            units = [part.aggregation.unit(m) / getattr(noise, "times", 1) for m, noise in measures]
            values = db.ask(sql, epsilon=1).rows[0]
            assert all(float(value / unit).is_integer() for value, unit in zip(values, units, strict=True))
