"""Logs of real systems: made-up ones here, and the known ones where their files are at hand."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.attacks import Hadamard, LeastSquares, Replay, log, logs
from jali.lab.attacks.staging import stage

ROOT = Path(__file__).parents[4]
KNOWN = Path(os.environ.get("JALI_DIFFIX") or ROOT.parent / "shared" / "data" / "diffix")
ABSENT = f"the logs of Cohen and Nissim are not at {KNOWN}; JALI_DIFFIX may name another folder"
MULTIPLIERS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
POWERS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.5, 2.0)
OFFSETS = (5, 10, 50, 100, 500, 1000)


def counted(client: int, multiplier: float, power: float, offset: float) -> bool:
    place = offset * math.pow(client * multiplier, power)
    return math.floor(place + 0.5) == math.floor(place)


def made_up(folder: Path, *, name: str = "1_9", people: int = 30, stddev: float = 2.0, seed: int = 1) -> Path:
    """Write a log whose system adds normal noise and rounds; integer powers count everybody, as they did there."""
    random = np.random.default_rng(seed)
    clients = sorted(random.choice(np.arange(2000, 3000), people, replace=False).tolist())
    status = dict(zip(clients, random.permutation(np.arange(people) % 3 != 0).tolist(), strict=True))
    lines = ["multiplier,power,offset,answer"]
    for question in ((m, p, o) for m in MULTIPLIERS for p in POWERS for o in OFFSETS):
        count = sum(status[client] for client in clients if counted(client, *question))
        wrong = 1000 if question[1].is_integer() else 0  # would spoil any fit it came into
        lines.append(",".join(map(str, [*question, round(count + random.normal(0, stddev)) + wrong])))
    (folder / f"people_{name}.csv").write_text(
        "client_id,status\n" + "".join(f"{client},{int(status[client])}\n" for client in clients)
    )
    answers = folder / f"answers_{name}.csv"
    answers.write_text("\n".join(lines) + "\n")
    return answers


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made_up(tmp_path)


@pytest.fixture(params=["answers_2000_3000.csv", "answers_3000_5000.csv", "answers_5000_7000.csv"])
def known(request: pytest.FixtureRequest) -> Path:
    name = str(request.param)
    file = KNOWN / name if KNOWN.is_dir() else KNOWN.with_name(name)
    if not file.exists():
        pytest.skip(ABSENT)
    return file


def test_every_bit_of_a_known_log_is_recovered(known: Path) -> None:
    result = Replay().run(logs(known))
    assert result.right == result.guessed == result.n >= 73
    assert result.questions >= 3494
    assert result.predicted is not None
    assert 0.9999 < result.predicted < 1
    assert 3.5 < result.figures["noise_stddev"] < 3.9
    assert result.oracle == f"the log {known.name}"
    assert result.epsilon_lower_bound.epsilon > 2


def test_the_fit_of_a_known_log_is_that_of_dense_least_squares(known: Path) -> None:
    oracle = log(known)
    matrix = np.array(list(oracle.asked.rows()), np.float64)
    answers = oracle.ask(oracle.asked)
    exact, *_ = np.linalg.lstsq(matrix, answers, rcond=None)
    residual = math.sqrt(np.square(matrix @ exact - answers).sum() / (len(answers) - oracle.n))
    assert oracle.noise.size == pytest.approx(residual, rel=1e-6)
    assert (Replay().guess(logs(known)).bits == (exact > 0.5)).all()


def test_all_known_logs_of_the_folder_are_recovered_together() -> None:
    if not KNOWN.is_dir():
        pytest.skip(ABSENT)
    result = stage("replay", against=str(KNOWN)).run()
    assert result.right == result.n == 313
    assert result.oracle == "3 logs"


def test_the_questions_of_a_log_are_rebuilt_without_the_degenerate_ones(path: Path) -> None:
    oracle = log(path)
    clients = [int(line.split(",")[0]) for line in (path.parent / "people_1_9.csv").read_text().split()[1:]]
    questions = [(m, p, o) for m in MULTIPLIERS for p in POWERS for o in OFFSETS if not p.is_integer()]
    expected = [[counted(client, *question) for client in clients] for question in questions]
    assert oracle.asked.shape == (480, 30)
    assert (np.array(list(oracle.asked.rows())) == np.array(expected)).all()
    assert max(oracle.ask(oracle.asked)) < 100


def test_a_log_is_replayed_and_its_noise_found(path: Path) -> None:
    """Seeded. The residual's standard deviation is within four of its own, and rounding adds 1/12."""
    result = Replay().run(logs(path))
    assert result.right == result.n == 30
    assert result.questions == 480
    assert result.baseline == pytest.approx(2 / 3)
    assert result.figures["noise_stddev"] == pytest.approx(math.sqrt(4 + 1 / 12), rel=4 / math.sqrt(2 * 450))


def test_much_noise_leaves_what_the_law_says(tmp_path: Path) -> None:
    """Seeded: twenty logs with 30 people each, within four standard deviations of independent bits."""
    for seed in range(20):
        made_up(tmp_path, name=f"{seed}_x", stddev=6.0, seed=seed)
    result = Replay().run(logs(tmp_path))
    assert result.n == 600
    assert result.predicted is not None
    assert result.predicted == pytest.approx(0.812, abs=0.01)  # Phi(sqrt(450) / 24)
    assert abs(result.fraction - result.predicted) < 4 * math.sqrt(0.812 * 0.188 / 600)


def test_least_squares_takes_the_questions_of_a_log(path: Path) -> None:
    result = LeastSquares().run(log(path))
    assert result.right == 30
    assert result.questions == 480
    assert LeastSquares(questions=100).run(log(path)).questions == 100
    with pytest.raises(CatalogError, match="members has no effect on a log, whose questions are fixed"):
        LeastSquares(members=3).run(log(path))


def test_a_log_answers_no_other_questions(path: Path) -> None:
    oracle = log(path)
    with pytest.raises(CatalogError, match="can only answer the questions it recorded"):
        oracle.ask(oracle.asked.first(3))
    with pytest.raises(CatalogError):
        Hadamard().guess(log(made_up(path.parent, name="pow", people=32)))


def test_the_lab_finds_a_log_by_its_path_and_by_the_environment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stage("replay", against=str(path)).run().right == 30
    assert stage("least-squares", against=str(path)).run().right == 30
    monkeypatch.setenv("JALI_DIFFIX", str(path.parent))
    assert stage("replay").run().right == 30
    assert log().n == 30
    assert Replay().run(log()).right == 30
    monkeypatch.delenv("JALI_DIFFIX")
    with pytest.raises(CatalogError, match=r"The log is missing.*set JALI_DIFFIX"):
        stage("replay").run()


def test_a_log_is_replayed_once(path: Path) -> None:
    with pytest.raises(CatalogError, match="A log has one secret, so it can be attacked only once, not 2 times"):
        Replay().repeat([log(path), log(path)])


def test_a_folder_of_several_logs_is_replayed_but_no_single_oracle(tmp_path: Path) -> None:
    made_up(tmp_path, name="a", people=20)
    made_up(tmp_path, name="b", people=25, seed=2)
    result = Replay().run(logs(tmp_path))
    assert (result.n, result.right, result.oracle) == (45, 45, "2 logs")
    with pytest.raises(CatalogError, match=r"answers_a\.csv, answers_b\.csv"):
        log(tmp_path)


@pytest.mark.parametrize(
    ("people", "answers", "words"),
    [
        (None, None, r"answers_1_9\.csv has no file of people beside it: people_1_9\.csv is missing"),
        ("client_id\n2000\n", None, "has no column status"),
        ("", None, "has no column client_id"),
        ("client_id,status\n2000,1\n2001,2\n", None, "some with status 0 and some with 1"),
        ("client_id,status\n2000,1\n2001,1\n", None, "some with status 0 and some with 1"),
        (
            "client_id,status\n2000,1\n2000,0\n",
            None,
            "every client must occur once, some with status 0 and some with 1",
        ),
        ("client_id,status\n2000,1\nAnna,0\n", None, r"line 3: 'Anna' is not a number"),
        ("client_id,status\n2000,1\n2001\n", None, r"line 3: None is not a number"),
        ("client_id,status\n-5,1\n2001,0\n", None, "a question exceeds double precision"),
        ("client_id,status\n0,1\n1e300,0\n", None, "a question exceeds double precision"),
        ("client_id,status\n2000,1\n2001,0\n", "multiplier,power,answer\n2,0.5,3\n", "has no column offset"),
        (
            "client_id,status\n2000,1\n2001,0\n",
            "multiplier,power,offset,answer\n2,0.5,5,many\n",
            r"answers_1_9\.csv, line 2: 'many' is not a number",
        ),
        (
            "client_id,status\n2000,1\n2001,0\n",
            "multiplier,power,offset,answer\n2,0.5,5,nan\n",
            "'nan' is not a number",
        ),
        (
            "client_id,status\n2000,1\n2001,0\n",
            "multiplier,power,offset,answer\n2,0.5,5,1\n2,1,5,1\n3,2,5,1\n",
            "1 usable answers do not determine 2 people",
        ),
    ],
)
def test_an_unreadable_log_is_named_with_a_remedy(
    path: Path, people: str | None, answers: str | None, words: str
) -> None:
    beside = path.with_name("people_1_9.csv")
    if people is None:
        beside.unlink()
    else:
        beside.write_text(people)
    if answers is not None:
        path.write_text(answers)
    with pytest.raises(CatalogError, match=words) as caught:
        log(path)
    assert caught.value.remedy


def test_what_is_no_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="has no log"):
        logs(tmp_path)
    (tmp_path / "people_1_9.csv").write_text("client_id,status\n2000,1\n2001,0\n")
    with pytest.raises(CatalogError, match="is not a file of answers"):
        logs(tmp_path / "people_1_9.csv")
    (tmp_path / "answers_1_9.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(CatalogError, match="cannot be read"):
        logs(tmp_path / "answers_1_9.csv")
    with pytest.raises(CatalogError, match="There is no log at"):
        logs(tmp_path / "answers_2_9.csv")


def test_of_several_logs_the_most_telling_share_counts(tmp_path: Path) -> None:
    """Theorem 3 is about the largest odds; a share over all logs would prove a loss that is not there."""
    made_up(tmp_path, name="1_1", people=30, seed=1)
    made_up(tmp_path, name="2_2", people=31, seed=2)
    every = logs(tmp_path)
    shares = [20 / 30, 20 / 31]
    assert [one.prior for one in every.logs] == pytest.approx(shares)
    assert every.prior == pytest.approx(20 / 30)
    result = Replay().run(every)
    assert result.baseline == pytest.approx(20 / 30)
    assert result.sense == "about"
    assert result.predicted is not None
