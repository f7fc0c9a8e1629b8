"""The attack lab: every acceptance figure with a fixed seed, and times as ratios against scipy."""

from __future__ import annotations

import math
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from benchmarks.measure import Row, at_least, at_most, best_of, reported
from scipy.sparse.linalg import aslinearoperator, lsqr

from jali.lab.attacks import Noise, Oracle, Result, simulator
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.convex_attacks import LOSSES, LinearProgram
from jali.lab.attacks.decoding.design import Design
from jali.lab.attacks.decoding.solvers import fit, fit_answers
from jali.lab.attacks.hadamard_attack import Hadamard
from jali.lab.attacks.staging import stage
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows
from jali.lab.attacks.subsets.random_subsets import draw_packed_subsets, draw_sparse_subsets, random_subsets
from jali.lab.attacks.subsets.subset_operators import Subsets

_SEED = 1
_LOGS = Path(os.environ.get("JALI_DIFFIX", Path(__file__).parents[2] / "shared" / "data" / "diffix"))


def rows() -> list[Row]:
    """Measure every attack."""
    return [*_rebuilt(), *_traced(), *_replayed(), *_against_jali(), *_decoding(), *_programs(), *_least_squares()]


def _run(
    name: str, title: str, least: float, limit: float, *, seed: int | None = _SEED, **given: Any
) -> list[Row]:
    """Run an attack, from the drawing of the secret to the marked guess: its share, its law and its time."""
    start = time.process_time()
    result = stage(name, seed=seed, **given).run()
    seconds = time.process_time() - start
    found = [at_least(f"{title}: share of right bits", result.fraction, least, digits=5)]
    if result.predicted is not None:
        found.append(reported("  the law says", result.predicted, digits=5))
    return [*found, reported(f"  CPU seconds{'' if math.isinf(limit) else f' (LAB: {limit:g})'}", seconds)]


def _rebuilt() -> list[Row]:
    return [
        *_run("exponential", "exponential, n=20, errors within 2", 1, 2, n=20, noise="uniform:2"),
        *_run("exponential", "exponential, n=24, errors within 2", 1, 20, n=24, noise="uniform:2"),
        *_decoys(),
        *_run("linear-program", "linear program, n=256, m=8n, E=sqrt(n)", 0.98, 5, n=256, noise="uniform:sqrt(n)"),
        *_run(
            "linear-program",
            "linear program (L1), n=128, m=1024, 30 % garbage",
            1,
            5,
            n=128,
            noise="garbage:0.3",
            parameters={"questions": 1024, "loss": "absolute"},
        ),
        *_run("slab", "slab, n=512, m=8n, E=sqrt(n)", 0.97, 2, n=512, noise="uniform:sqrt(n)"),
        *_run("least-squares", "least squares, n=10^4, m=4n, E=sqrt(n)/4", 0.998, 10, n=10_000, noise=_QUARTER),
        *_run(
            "least-squares",
            "least squares, n=10^5, 8 people a question, stddev 1",
            0.99,
            3,
            n=100_000,
            noise="gaussian:1",
            parameters={"members": 8},
        ),
        *_hadamard_laws(),
        *_run("hadamard", "hadamard, n=2^20, E=sqrt(n)/4", 0.95, 1, n=1 << 20, noise=_QUARTER),
        *_run("tables", "tables: a block of 7 people, seed 11", 1, 1, seed=11),
    ]


_QUARTER = "uniform:0.25*sqrt(n)"


def _decoys() -> list[Row]:
    result = stage("exponential", n=16, noise="worst:2", seed=_SEED).run()
    return [
        _exactly("exponential, n=16, E=2, decoys: candidates left", result.figures["survivors"], math.comb(8, 4)),
        _exactly("  bits wrong, which are 4E", result.guessed - result.right, 8),
    ]


def _exactly(title: str, value: float, target: float) -> Row:
    return Row(title, value, f"= {target:g}", value == target)


def _hadamard_laws() -> list[Row]:
    found = []
    for noise in (_QUARTER, "gaussian:0.25*sqrt(n)", "laplace:0.25*sqrt(n)", "rounding:0.3*sqrt(n)"):
        result = stage("hadamard", n=1 << 16, noise=noise, seed=_SEED).run()
        found.append(at_most(f"hadamard, n=2^16, {noise}: s.d. from the law", abs(_off(result)), 3))
    worst = stage("hadamard", n=1 << 12, noise="worst:0.25*sqrt(n)", seed=_SEED).run()
    return [*found, reported("  share with errors chosen within sqrt(n)/4, n=2^12", worst.fraction)]


def _off(result: Result) -> float:
    law = result.predicted or math.nan
    return (result.fraction - law) / math.sqrt(law * (1 - law) / result.guessed)


def _traced() -> list[Row]:
    exact = stage("tracing", n=100, noise="none", seed=_SEED, trials=100, parameters={"attributes": 1000}).run()
    private = stage(
        "tracing", n=100, noise="geometric:1000", seed=_SEED, trials=100, parameters={"attributes": 1000}
    ).run()
    name = "true positive rate"
    return [
        at_least("tracing, n=100, d=1000, exact: true positives at 1 %", exact.figures[name], 0.75),
        at_most("  at epsilon 1", private.figures[name], 0.02),
        *_run("sticky", "sticky noise, 5 splits", 0.89, math.inf, n=2000, parameters={"splits": 5}),
        *_run("averaging", "averaging: the law's repeats at epsilon 0.1", 0.99, math.inf),
    ]


def _replayed() -> list[Row]:
    found = []
    for log in sorted(_LOGS.glob("answers_*.csv")):
        found += _run("replay", f"replay of {log.name}", 1, 1, seed=None, against=str(log))
    return found or [reported(f"replay: no logs in {_LOGS.name}", math.nan)]


def _against_jali() -> list[Row]:
    """Attack Jali at epsilon 1, and its twin without a ledger with the same code."""
    found = []
    for name in ("hadamard", "least-squares"):
        kept = stage(name, n=64, against="jali", seed=_SEED).run()
        lost = stage(name, n=64, against="unledgered", each=5, seed=_SEED).run()
        found += [
            at_most(f"{name}, n=64, Jali at epsilon 1: share of right bits", kept.fraction, 0.5 + 5 / 16),
            reported("  the law says", kept.predicted or math.nan),
            at_least(f"{name}, n=64, Jali without a ledger, epsilon 5 each", lost.fraction, 1),
        ]
    return found


class _Recorded:
    """An oracle that answered before."""

    def __init__(self, oracle: Oracle, subsets: Subsets) -> None:
        self.n, self.prior, self.noise = oracle.n, oracle.prior, oracle.noise
        self._answers = oracle.ask(subsets)

    def ask(self, _: Subsets) -> Doubles:
        return self._answers


def _decoding() -> list[Row]:
    n = 1 << 20
    oracle: Any = _Recorded(simulator(n=n, noise=_QUARTER, seed=_SEED), HadamardRows(n))
    signal = np.random.default_rng(_SEED).random(n)
    best = best_of({"ours": partial(Hadamard().guess, oracle), "fft": partial(scipy.fft.rfft, signal)})
    return [at_most("hadamard decoding, n=2^20 / scipy's real FFT", best["ours"] / best["fft"], 4)]


def _programs() -> list[Row]:
    """Solve each program through the attack, and the assembled one through scipy alone."""
    found = []
    for loss, noise, n, m in (
        ("chebyshev", "uniform:sqrt(n)", 256, 2048),
        ("feasible", "uniform:sqrt(n)", 128, 1024),
        ("absolute", "garbage:0.3", 128, 1024),
    ):
        law = Noise.of(noise, n=n)
        subsets = random_subsets(m, n, seed=_SEED)
        answers = simulator(n=n, noise=law, seed=_SEED).ask(subsets)
        attack = LinearProgram(loss=loss, seed=_SEED)
        direction = np.random.default_rng([_SEED, 1])
        program = LOSSES[loss].program(subsets, answers, law.bound or 0.0, direction)
        best = best_of({"ours": partial(attack.solve, subsets, answers, law), "highs": program.solve}, rounds=3)
        found.append(at_most(f"linear program, {loss}, n={n} / bare HiGHS", best["ours"] / best["highs"], 1.2))
    return found


def _least_squares() -> list[Row]:
    """Fit to the accuracy that the noise calls for, and by lsqr with as many steps as that accuracy takes."""
    found = []
    for n, members, stddev in ((10_000, None, 25 / math.sqrt(3)), (100_000, 8, 1.0)):
        m = 4 * n
        subsets: Any = (
            draw_packed_subsets(m, n, seed=1) if members is None else draw_sparse_subsets(m, n, members, seed=1)
        )
        answers = simulator(n=n, noise=f"gaussian:{stddev}", seed=_SEED).ask(subsets)
        design = Design(n, m, members)
        ours = partial(fit_answers, subsets, answers, design, stddev)
        matrix = aslinearoperator(subsets) if members is None else subsets.matrix
        steps = _steps(
            matrix, answers, fit(subsets, answers, density=design.density, gradient=1e-6).estimate, ours
        )
        theirs = partial(lsqr, matrix, answers, iter_lim=steps, atol=0, btol=0, conlim=0)
        best = best_of({"ours": ours, "lsqr": theirs}, rounds=3)
        title = f"least squares, n={n:,} / scipy's lsqr of {steps} steps, as near to the solution"
        found.append(at_most(title, best["ours"] / best["lsqr"], 1.5))
    return found


def _steps(matrix: Any, answers: Doubles, solution: Doubles, ours: Any) -> int:
    """Return how many steps lsqr needs to come as near to the solution as we do."""
    near = float(np.linalg.norm(ours().estimate - solution))
    for steps in range(3, 60):
        theirs = lsqr(matrix, answers, iter_lim=steps, atol=0, btol=0, conlim=0)[0]
        if np.linalg.norm(theirs - solution) <= near:
            return steps
    return 60


if __name__ == "__main__":
    for row in rows():
        print(row)
