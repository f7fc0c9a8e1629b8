"""Draw the pictures of the pages on pictures, streams, attacks and audits: python docs/pictures/draw.py."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from PIL import Image

import jali
from jali import plots as pictures
from jali.display.plots.plot_canvas import pick_colour, prepare_axes, write_titles
from jali.lab.attacks import EpsilonSweep, NoiseSweep, QuestionSweep, Tracing, stage
from jali.lab.audit import Effort, audit_all, audit_registered
from jali.lab.audit.testers.pairwise import Pairwise
from jali.local import KaryResponse
from jali.mechanisms import Gaussian, Laplace, LInfinity, Mechanism, Root
from jali.privacy import BoundedRange, Budget, Event, GaussianLoss, LaplaceLoss, Loss, Pure
from jali.streams import Participation, named

HERE = Path(__file__).parent
# Inches.
_LARGE = 12
LOSSES: dict[str, Loss] = {
    "any, epsilon 1": Pure(1),
    "Laplace, scale 1": LaplaceLoss(1),
    "exponential, epsilon 1": BoundedRange(1),
    "Gaussian, stddev 4.225": GaussianLoss("4.225"),
}

SURVEY = KaryResponse(categories=3, epsilon=1).estimate([0] * 500 + [1] * 300 + [2] * 200)
NOISES: dict[str, Mechanism] = {
    "Laplace": Laplace(sensitivity=10, epsilon=1),
    "l-infinity": LInfinity(sensitivity=1, epsilon=1, dimension=10),
    "Gaussian, delta 1e-6": Gaussian(sensitivity=Root(10), rho="0.0243"),
}


def questions() -> list[tuple[str, Event]]:
    """Return a month of questions: small ones, at the hours when people ask."""
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    times = [start + timedelta(days=day, hours=(5 * day + 3 * turn) % 8) for day in range(26) for turn in range(3)]
    open_days = sorted(at for at in times if at.weekday() < 5)
    return [(at.isoformat(timespec="seconds"), Pure("0.06").event) for at in open_days]


def counters() -> Any:
    """Draw the standard deviation after each tick, for the counters of docs/streams.md."""
    axes, horizon = prepare_axes(), 365
    person = Participation(adjacency="add-remove")
    names = ("every-item", "binary-tree", "smooth-tree", "buffered-toeplitz")
    for index, name in enumerate(names):
        delta = 1e-6 if name == "buffered-toeplitz" else None
        made = named(name, horizon=horizon, epsilon=1, delta=delta, person=person)
        spread = made.variances() ** 0.5
        noise = "Laplace" if made.epsilon else "Gaussian, delta 1e-6"
        width = 0.9 if name == "binary-tree" else 1.8
        axes.plot(
            range(1, horizon + 1), spread, color=pick_colour(index), linewidth=width, label=f"{name}, {noise}"
        )
    axes.set(xlim=(0, horizon), ylim=(0, 36))
    # The lines cross too often for labels beside them.
    axes.legend(ncols=2, loc="upper left", fontsize=9, frameon=False)
    write_titles(axes, "Counts so far at epsilon 1: a year of days", "day", "standard deviation")
    return axes


def traced() -> Any:
    """Draw how well members are told from outsiders by exact means, and by means at epsilon 1."""
    noises = {"exact means": "none", "epsilon 1": "geometric:1000"}
    groups = {name: stage("tracing", noise=noise, seed=1, trials=50).opponents() for name, noise in noises.items()}
    return pictures.attack_roc({name: Tracing().roc(*found) for name, found in groups.items()}, epsilon=1)


def attacked() -> dict[str, Any]:
    """Draw what the attack lab finds."""
    return {
        "attack_noise": NoiseSweep(("hadamard", "least-squares"), seed=1).run().plot(),
        "attack_epsilon": EpsilonSweep(("hadamard",), seed=1).run().plot(),
        "attack_questions": QuestionSweep(("hadamard",), seed=1).run().plot(),
        "attack_averaging": QuestionSweep(("averaging",), n=1, trials=200, each="0.1", seed=1).run().plot(),
        "attack_roc": traced(),
    }


def audited() -> dict[str, Any]:
    """Draw what the auditor finds: of all that Jali has, and of broken and honest mechanisms at claim 0.7."""
    from jali.lab.audit.broken import BROKEN, HONEST

    effort = Effort(400_000, seed=7)
    # At epsilon 10 it takes millions of samples.
    made = [make() for make in (*BROKEN, *HONEST) if make.__name__ != "classical_gaussian"]
    return {
        "audits": audit_registered(seconds=120, brief=True).plot(),
        "audit_broken": audit_all(made, effort, [Pairwise()]).plot(),
    }


def main() -> None:
    """Draw every picture into this folder."""
    matplotlib.use("Agg")
    drawn: dict[str, Any] = {
        "composition": pictures.composition(Pure("0.1")),
        "profiles": pictures.profiles(LOSSES),
        "trade_offs": pictures.trade_offs(LOSSES),
        "errors": pictures.errors(NOISES, floor=1e-4),
        "comparison": jali.lab.compare.compare("median", people=201, draws=4000).plot().axes[0],
        "survey": pictures.survey(SURVEY, ["bus", "bicycle", "car"]),
        "counters": counters(),
        "spending": pictures.spending(questions(), Budget(3, "1e-6"), name="table visits"),
        **attacked(),
        **audited(),
    }
    for name, axes in drawn.items():
        save(axes.figure, HERE / f"{name}.png")


def save(figure: Any, path: Path) -> None:
    """Save with few colours: a third of the size, and no difference to the eye."""
    plain = BytesIO()
    # A large one has its details in its size.
    figure.savefig(plain, dpi=160 if figure.get_size_inches().max() < _LARGE else 110)
    Image.open(plain).convert("RGB").quantize(24, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
