"""Adapters: functions of other packages as subjects; run inside the venv of each peer that is installed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.depth import deep

from jali.errors import CatalogError
from jali.lab.audit import adapters
from jali.privacy import Adjacency, Approximate, Concentrated, Pure, Renyi

ROOT = Path(__file__).resolve().parents[2]
# Jali and what it needs come last, so that the peer has its own numpy.
OPENING = f"""
import sys
sys.path[len(sys.path):] = [{str(ROOT / "src")!r}, {sysconfig.get_paths()["purelib"]!r}]
import json, warnings
import numpy as np
from fractions import Fraction
from jali.lab.audit import Effort, adapters, audit
from jali.errors import CatalogError
def told(subject, draws=50):
    rows = [subject.draw(value, draws, None) for value in subject.pairs[0]]
    return dict(claim=repr(subject.claim), adjacency=subject.adjacency, pairs=repr(subject.pairs),
        name=subject.name, width=rows[0].shape[1], columns=subject.encoder.columns,
        numbers=all(np.isfinite(r).all() for r in rows), distinct=len(np.unique(rows[0][:, 0])))
def found(subject, samples=12_000):
    made = audit(subject, Effort(samples, 1 - Fraction(1, 10**8)))
    return dict(verdict=made.verdict.value, said=repr(made))
made = {{}}
"""


def _in_peer(name: str, script: str) -> dict[str, dict[str, Any]]:
    python = ROOT / ".peers" / name / "bin" / "python"
    if not (ROOT / ".peers" / name / ".ready").exists():
        pytest.skip(f"{name} is not installed here; `make bench-peers` installs it.")
    script = f"{OPENING}{script}\nprint(json.dumps(made))"
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return made


def test_numpys_noise_is_audited_as_numpy_draws_it() -> None:
    subject = adapters.numpy("laplace", scale=2.0, epsilon="0.5", adjacency="replace-one")
    drawn = subject.draw(1, 100, np.random.default_rng(7))
    assert drawn[:, 0].tolist() == np.random.default_rng(7).laplace(1.0, 2.0, 100).tolist()
    assert (subject.claim, subject.adjacency) == (Pure("0.5"), Adjacency.REPLACE_ONE)
    vector = adapters.numpy("normal", scale=1.0, rho="0.5", adjacency="add-remove", data="answers:3")
    assert vector.draw([0, 1, 2], 4, np.random.default_rng(1)).shape == (4, 5)
    assert vector.claim == Concentrated("0.5")


def test_numpys_old_functions_are_audited_with_their_own_noise() -> None:
    subject = adapters.numpy(np.random.laplace, scale=1.0, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
    one, other = (subject.draw(0, 10, np.random.default_rng(7)).tolist() for _ in range(2))
    assert one != other
    with pytest.raises(CatalogError, match="is not a location-scale distribution of numpy"):
        adapters.numpy("poisson", scale=1.0, epsilon=1, adjacency="add-remove")


class Divergence:
    """A measurement as OpenDP's look, with a map and a metric that a test chooses."""

    input_carrier_type = "f64"
    input_distance_type = "f64"

    def __init__(self, measure: str, said: Any, metric: str = "AbsoluteDistance(f64)") -> None:
        self.output_measure, self.input_metric, self.said = measure, metric, said

    def map(self, d_in: float) -> Any:
        assert isinstance(d_in, float)
        return self.said

    def __call__(self, arg: float) -> float:
        return arg


class Curve:
    """A curve of claims as OpenDP's look."""

    def epsilon(self, delta: float) -> float:
        return -math.log(delta)


@pytest.mark.parametrize(
    ("measure", "said", "claim"),
    [
        ("MaxDivergence", 0.7, Pure("0.7")),
        ("ZeroConcentratedDivergence", 0.5, Concentrated("0.5")),
        ("Approximate(MaxDivergence)", (0.7, 1e-6), Approximate("0.7", "1e-6")),
        ("Approximate(MaxDivergence)", (0.7, 0.0), Pure("0.7")),
        ("SmoothedMaxDivergence", Curve(), Approximate(-math.log(0.01), "0.01")),
    ],
)
def test_a_claim_is_read_off_the_map_in_its_measure(measure: str, said: Any, claim: Any) -> None:
    subject = adapters.opendp(Divergence(measure, said), adjacency="add-remove", delta="0.01")
    assert subject.claim == claim
    assert subject.pairs[0] == (0.0, 1.0)


def test_a_renyi_curve_is_read_at_several_orders() -> None:
    curve: Callable[[float], float] = lambda order: order / 4  # noqa: E731 - a curve is a function in OpenDP
    claim = adapters.opendp(Divergence("RenyiDivergence", curve), adjacency="add-remove").claim
    assert isinstance(claim, Renyi)
    assert claim.renyi(2) == pytest.approx(0.5)


def test_what_opendp_does_not_say_is_asked_for() -> None:
    with pytest.raises(CatalogError, match="adjacency is missing"):
        adapters.opendp(Divergence("MaxDivergence", 0.7))
    with pytest.raises(CatalogError, match="Give the delta to test at"):
        adapters.opendp(Divergence("SmoothedMaxDivergence", Curve()), adjacency="add-remove")
    with pytest.raises(CatalogError, match="loss= yourself"):
        adapters.opendp(Divergence("Approximate(ZeroConcentratedDivergence)", (1, 0)), adjacency="add-remove")
    with pytest.raises(CatalogError, match="No neighbours are known"):
        adapters.opendp(Divergence("MaxDivergence", 0.7, "FrameDistance()"), adjacency="add-remove")


OPENDP = """
import opendp.prelude as dp
dp.enable_features("contrib")
floats, integers = dp.atom_domain(T=float, nan=False), dp.atom_domain(T=int)
scalar = dp.m.make_laplace(floats, dp.absolute_distance(T=float), scale=1.0)
vector = dp.m.make_gaussian(dp.vector_domain(floats), dp.l2_distance(T=float), scale=1.0)
curve = dp.c.make_zCDP_to_approxDP(vector)
most = dp.m.make_noisy_max(dp.vector_domain(integers), dp.linf_distance(T=int), dp.max_divergence(), scale=2.0)
people = dp.vector_domain(dp.atom_domain(bounds=(0.0, 5.0))), dp.symmetric_distance()
total = people >> dp.t.then_sum() >> dp.m.then_laplace(scale=10.0)
made["scalar"] = told(adapters.opendp(scalar, d_in=2, adjacency="replace-one"))
made["vector"] = told(adapters.opendp(vector, adjacency="add-remove"))
made["curve"] = told(adapters.opendp(dp.c.make_fix_delta(curve, 1e-6), adjacency="add-remove"))
made["smooth"] = told(adapters.opendp(curve, adjacency="add-remove", delta="1e-6"))
made["most"] = told(adapters.opendp(most, adjacency="replace-one"))
made["total"] = told(adapters.opendp(total))
made["coin"] = told(adapters.opendp(dp.m.make_randomized_response_bool(0.75)))
"""


@deep
def test_measurements_of_opendp_become_subjects() -> None:
    made = _in_peer("opendp", OPENDP)
    assert {name: one["width"] for name, one in made.items()} == {
        "scalar": 3, "vector": 7, "curve": 7, "smooth": 7, "most": 3, "total": 3, "coin": 3
    }  # fmt: skip
    assert all(one["numbers"] for one in made.values())
    assert all(made[name]["distinct"] == 50 for name in ("scalar", "vector", "total"))
    assert made["scalar"]["claim"].startswith("Pure(2")
    assert made["vector"]["claim"] == "Concentrated(0.5)"
    assert made["curve"]["claim"] == made["smooth"]["claim"]
    assert made["curve"]["claim"].endswith(", 1e-06)")
    # The noise is for scores 1 apart: exponential of scale 2.
    assert made["most"]["claim"] == "Pure(1)"
    assert "([1, 1, 1, 1, 1], [2, 0, 0, 0, 0])" in made["most"]["pairs"]
    assert made["total"]["adjacency"] == "add-remove"
    assert "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0], [0.0" in made["total"]["pairs"]
    assert made["coin"]["adjacency"] == "replace-one"
    assert made["coin"]["claim"].startswith("Pure(1.0986")


DIFFPRIVLIB = """
from diffprivlib import mechanisms, models, tools
warnings.simplefilter("error")
noise = mechanisms.Laplace(epsilon=0.7, sensitivity=2)
made["laplace"] = told(adapters.diffprivlib(noise, adjacency="add-remove"))
gauss = mechanisms.GaussianAnalytic(epsilon=0.7, delta=1e-6, sensitivity=1)
made["gauss"] = told(adapters.diffprivlib(gauss, adjacency="add-remove"))
whole = mechanisms.Geometric(epsilon=0.7, sensitivity=1)
made["geometric"] = told(adapters.diffprivlib(whole, adjacency="add-remove"))
coin = mechanisms.Binary(epsilon=1.0, value0="no", value1="yes")
made["coin"] = told(adapters.diffprivlib(coin, adjacency="replace-one"))
mean = adapters.diffprivlib(tools.mean, epsilon=0.7, bounds=(0, 1), adjacency="replace-one")
made["mean"] = told(mean)
x, y = np.linspace(0, 1, 12).reshape(6, 2), np.arange(6) % 2
pair = ((x, y), (np.vstack([x[:-1], [[0, 0]]]), y))
scaled = adapters.diffprivlib(
    models.StandardScaler, epsilon=0.7, bounds=(0, 1), adjacency="replace-one", pairs=[(pair[0][:1], pair[1][:1])]
)
made["scaler"] = told(scaled, 20)
bayes = adapters.diffprivlib(models.GaussianNB, epsilon=1, bounds=(0, 1), adjacency="replace-one", pairs=[pair])
made["bayes"] = told(bayes, 20)
for wrong in (dict(), dict(epsilon=1)):
    try:
        adapters.diffprivlib(tools.mean, adjacency="replace-one", **wrong)
    except CatalogError as error:
        made[f"refused {len(wrong)}"] = dict(said=str(error))
"""


def test_mechanisms_tools_and_models_of_diffprivlib_become_subjects() -> None:
    made = _in_peer("diffprivlib", DIFFPRIVLIB)
    assert "epsilon is missing" in made.pop("refused 0")["said"]
    assert "no bounds" in made.pop("refused 1")["said"]
    assert all(one["numbers"] for one in made.values())
    assert (made["laplace"]["claim"], made["gauss"]["claim"]) == ("Pure(0.7)", "Approximate(0.7, 1e-06)")
    assert made["laplace"]["pairs"].startswith("((0.0, 2.0)")
    assert made["laplace"]["distinct"] == 50
    assert made["geometric"]["pairs"].startswith("((0, 1)")
    assert made["coin"]["pairs"] == "(('no', 'yes'),)"
    assert made["mean"]["name"].startswith("diffprivlib mean, values:10 in 0.0..1.0 as array")
    assert any("item 1 of key 'mean_'" in name for name in made["scaler"]["columns"])
    assert any("key 'theta_'" in name for name in made["bayes"]["columns"])


class BoundedSum:
    """An algorithm as PyDP's look: `quick_result` takes a list and starts with a whole budget each time."""

    def __init__(self, epsilon: float = 1.0, delta: float = 0, lower_bound: int = 0, upper_bound: int = 1) -> None:
        self.epsilon, self.delta, self.bounds = epsilon, delta, (lower_bound, upper_bound)

    def quick_result(self, data: list[float]) -> float:
        assert isinstance(data, list)
        return float(np.clip(data, *self.bounds).sum()) if data else 0.0


def test_algorithms_of_pydp_become_subjects() -> None:
    subject = adapters.pydp(BoundedSum(epsilon=0.7), adjacency="add-remove", data="values:4 in 0..1")
    assert (subject.claim, subject.name) == (Pure("0.7"), "PyDP BoundedSum, values:4 in 0..1")
    assert [subject.draw(value, 2, None)[:, :1].tolist() for value in subject.pairs[0]] == [
        [[1.0], [1.0]],
        [[0.0], [0.0]],
    ]
    loose = adapters.pydp(BoundedSum(delta=1e-6), adjacency="add-remove", data="values:4 in 0..1")
    assert loose.claim == Approximate(1, "1e-6")


PYDP = """
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count
whole = BoundedSum(epsilon=0.7, lower_bound=0, upper_bound=1, dtype="int")
subject = adapters.pydp(whole, adjacency="add-remove", data="values:10 in 0..1")
made["sum"] = told(subject) | found(subject)
count = Count(epsilon=1.0, dtype="int")
made["count"] = told(adapters.pydp(count, adjacency="add-remove", data="values:10 in 0..1"))
mean = BoundedMean(epsilon=0.7, lower_bound=0, upper_bound=1, dtype="float")
made["mean"] = told(adapters.pydp(mean, adjacency="add-remove", data="values:10 in 0.0..1.0"))
"""


def test_pydp_itself_becomes_a_subject() -> None:
    made = _in_peer("pipelinedp", PYDP)
    assert all(one["numbers"] for one in made.values())
    assert {name: one["claim"] for name, one in made.items()} == {
        "sum": "Pure(0.7)",
        "count": "Pure(1)",
        "mean": "Pure(0.7)",
    }
    assert made["sum"]["verdict"] == "nothing found"


@deep
@pytest.mark.parametrize(
    ("peer", "script", "verdict"),
    [
        (
            "opendp",
            """
import opendp.prelude as dp
dp.enable_features("contrib")
space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
made["it"] = found(adapters.opendp(dp.m.make_laplace(*space, scale=1 / 0.7), adjacency="add-remove"))
""",
            "nothing found",
        ),
        (
            "diffprivlib",
            """
from diffprivlib.mechanisms import Laplace
made["it"] = found(adapters.diffprivlib(Laplace(epsilon=0.7, sensitivity=1), adjacency="add-remove"), 60_000)
""",
            "violation",
        ),
    ],
)
def test_what_a_peer_draws_is_audited(peer: str, script: str, verdict: str) -> None:
    """Their noise has no seed: at this confidence an honest one is accused once in a hundred million runs."""
    assert _in_peer(peer, script)["it"]["verdict"] == verdict


def test_adapters_import_no_peer() -> None:
    script = (
        "import sys; from jali.lab.audit.adapters import numpy, opendp, diffprivlib, pydp; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {"opendp", "diffprivlib", "pydp", "scipy", "pandas"} & set(loaded)
