from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jali as jali_package

Runner = Callable[..., Any]
SOURCE = str(Path(jali_package.__file__).parents[1])
BUDGET = ("--epsilon", "1", "--delta", "1e-6")


def rows(out: str) -> dict[str, list[str]]:
    """Return the cells of the table by the noise they are about."""
    lines = [line.split() for line in out.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if cells and cells[0] in ("Laplace", "l_inf", "Gaussian")}


def test_a_budget_and_queries_give_the_error_of_each_noise(jali: Runner) -> None:
    outcome = jali("plan", *BUDGET, "--queries", "50")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("50 counts within epsilon=1, delta=1e-06\n")
    assert rows(outcome.out)["l_inf"] == ["29.74", "50.69", "62.18", "50", "*"]
    assert rows(outcome.out)["Gaussian"][0] == "29.88"
    assert "l_inf for k=2 to 69, Gaussian from k=70" in outcome.out
    assert outcome.out.splitlines()[-1].startswith("Take l_inf noise: each count is within 50.69")


def test_a_budget_and_an_error_give_the_queries_that_fit(jali: Runner) -> None:
    outcome = jali("plan", *BUDGET, "--error", "100")
    assert {noise: cells[0] for noise, cells in rows(outcome.out).items()} == {
        "Laplace": "33",
        "l_inf": "102",
        "Gaussian": "145",
    }
    assert outcome.out.splitlines()[-1] == "Take Gaussian noise: 145 counts fit."


def test_queries_and_an_error_give_the_least_epsilon(jali: Runner) -> None:
    outcome = jali("plan", "--queries", "50", "--error", "100", "--delta", "1e-6")
    assert rows(outcome.out)["l_inf"][0] == "0.5069"
    assert "At epsilon 0.506845, least error" in outcome.out
    assert outcome.out.splitlines()[-1] == "Take l_inf noise: epsilon 0.5069 is enough."


def test_rows_give_the_queries_below_the_sampling_error(jali: Runner) -> None:
    pure, approximate = (
        jali("plan", "--epsilon", "1", "--delta", d, "--rows", "100000").out for d in ("0", "1e-6")
    )
    assert {noise: cells[0] for noise, cells in rows(approximate).items()} == {
        "Laplace": "111",
        "l_inf": "272",
        "Gaussian": "1,400",
    }
    assert "Gaussian" not in rows(pure)
    assert "needs a delta above 0" in " ".join(pure.split())


def test_standard_deviations_cross_where_the_theory_says(jali: Runner) -> None:
    outcome = jali("plan", *BUDGET, "--queries", "50", "--stddev")
    assert "l_inf for k=2 to 50, Gaussian from k=51" in outcome.out
    assert "95 %" not in outcome.out


def test_confidence_may_be_for_all_counts_at_once(jali: Runner) -> None:
    outcome = jali("plan", *BUDGET, "--error", "100", "--simultaneous", "--confidence", "0.99")
    assert "error of all counts at once at 99 % at most 100" in outcome.out
    one, all_ = (
        jali("plan", *BUDGET, "--error", "100", *more, "--json").document for more in ((), ("--simultaneous",))
    )
    assert all(a["queries"] < o["queries"] for a, o in zip(all_["noises"], one["noises"], strict=True))


def test_sensitivity_multiplies_the_error(jali: Runner) -> None:
    one, five = (
        jali("plan", *BUDGET, "--queries", "3", "--sensitivity", s, "--json").document["noises"]
        for s in ("1", "5")
    )
    assert [row["stddev"] for row in five] == pytest.approx([5 * row["stddev"] for row in one])


def test_a_loss_of_each_query_gives_what_all_of_them_cost_by_each_theorem(jali: Runner) -> None:
    """THEORY section 4: 100 queries of epsilon 0.1 at delta 1e-6."""
    arguments = ("plan", "--each-epsilon", "0.1", "--queries", "100", "--delta", "1e-6")
    outcome = jali(*arguments)
    assert outcome.out.startswith("100 queries of epsilon 0.1 each, at delta 1e-06\n")
    best = next(line for line in outcome.out.splitlines() if line.endswith("*"))
    assert best.split()[-2] == "4.77457"
    assert "Kairouz" in best
    document = jali(*arguments, "--json").document
    found = {row["theorem"]: row["epsilon"] for row in document["theorems"]}
    assert found["basic composition"] == 10
    assert found["zCDP with the tight conversion"] == pytest.approx(5.22154, abs=1e-5)
    assert document["best"] in found
    assert document["each_epsilon"] == "1/10"


def test_a_theorem_that_says_nothing_gives_its_reason(jali: Runner) -> None:
    outcome = jali("plan", "--each-epsilon", "0.1", "--queries", "100", "--json")
    rows_ = {row["theorem"]: row for row in outcome.document["theorems"]}
    assert rows_["zCDP with the tight conversion"]["epsilon"] is None
    assert rows_["zCDP with the tight conversion"]["reason"]
    told = " ".join(jali("plan", "--each-epsilon", "0.1", "--queries", "100").out.split())
    assert "zCDP with the tight conversion" not in told[: told.index("Left out: ")]
    for row in rows_.values():
        assert row["epsilon"] is not None or row["theorem"] in told[told.index("Left out: ") :]
    assert ", as delta is too small" in told


@pytest.mark.parametrize("each", ["0.1", "0.000001", "1e9"])
@pytest.mark.parametrize("queries", ["1", "100"])
def test_the_table_of_theorems_fits_eighty_columns(jali: Runner, each: str, queries: str) -> None:
    out = jali("plan", "--each-epsilon", each, "--queries", queries, "--delta", "1e-6").out
    table = out.split("\n\n")[1].splitlines()
    assert max(map(len, table)) <= 80
    assert table[0].split() == ["by", "epsilon", "best"]
    assert sum(line.endswith("*") for line in table) == 1


def test_a_loss_is_shown_rounded_up_but_not_by_a_bit(jali: Runner) -> None:
    out = jali("plan", "--each-epsilon", "0.000001", "--queries", "1", "--delta", "1e-6").out
    assert next(line for line in out.splitlines() if line.startswith("basic")).split()[-1] == "1e-06"
    assert out.startswith("1 query of epsilon")


def test_whole_numbers_may_be_written_with_an_exponent(jali: Runner) -> None:
    short, long = (jali("plan", *BUDGET, "--queries", n).out for n in ("1e3", "1000"))
    assert short == long
    assert short.startswith("1,000 counts ")


def test_a_program_sees_the_cap_and_what_was_accepted(jali: Runner) -> None:
    document = jali("plan", *BUDGET, "--error", "1e30", "--json").document
    assert document["accuracy"] == 1e30
    assert document["best"] == "Gaussian"
    assert [row["at_least"] for row in document["noises"]] == [True, True, True]


@pytest.mark.parametrize(
    "arguments",
    [
        (*BUDGET, "--queries", "5"),
        (*BUDGET, "--rows", "500"),
        ("--queries", "5", "--error", "9"),
        ("--each-epsilon", "1", "--queries", "5"),
    ],
)
def test_every_field_of_the_document_is_on_the_page(jali: Runner, arguments: tuple[str, ...]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page[page.index("## jali plan") : page.index("## jali demo")]

    def fields(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(fields, value.values()))
        return set().union(*map(fields, value)) if isinstance(value, list) else set()

    document = jali("plan", *arguments, "--json").document
    assert {field for field in fields(document) if f"`{field}`" not in section} == set()


def test_a_program_gets_the_same_facts(jali: Runner) -> None:
    document = jali("plan", *BUDGET, "--queries", "50", "--json").document
    assert document["budget"] == {"epsilon": "1", "delta": "1/1000000"}
    assert (document["solved"], document["queries"], document["best"]) == ("error", 50, "l_inf")
    assert [row["noise"] for row in document["noises"]] == ["Laplace", "l_inf", "Gaussian"]
    assert document["crossover"]["wins"][-1] == {"noise": "Gaussian", "first": 70, "last": None}
    assert document["advice"].startswith("Take l_inf noise")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((), "There are no options to plan with. Give two of --epsilon, --queries and --error"),
        (("--queries", "5"), "--queries alone is not enough"),
        (
            ("--epsilon", "1", "--queries", "5", "--error", "3"),
            "--epsilon, --queries and --error cannot be combined",
        ),
        (("--error", "3", "--rows", "100"), "--error and --rows cannot be combined"),
        (("--epsilon", "1", "--each-epsilon", "0.1", "--queries", "5"), "--epsilon, --queries and --each-epsilon"),
        (("--epsilon", "0", "--queries", "5"), "--epsilon must be above 0"),
        (("--epsilon", "one", "--queries", "5"), "--epsilon is not a finite number"),
        (("--epsilon", "1", "--delta", "1", "--queries", "5"), "--delta must be in [0, 1)"),
        (("--queries", "5", "--error", "3", "--delta", "-1"), "--delta must be in [0, 1)"),
        (("--epsilon", "1", "--queries", "0"), "--queries must be a whole number"),
        (("--epsilon", "1", "--queries", "many"), "--queries must be a whole number of at least 1, not many."),
        (("--epsilon", "1", "--queries", "2.5"), "--queries must be a whole number of at least 1, not 2.5."),
        (("--epsilon", "1", "--queries", "1,000"), "not 1,000. Write --queries 1000, for example."),
        (("--epsilon", "1", "--rows", "1.5"), "--rows must be a whole number of at least 1, not 1.5."),
        (("--epsilon", "--queries", "5"), "--epsilon needs a value: --queries follows it. See"),
        (("--queries", "--epsilon", "1"), "--queries needs a value: --epsilon follows it. See"),
        (("--epsilon", "1", "5"), "extra argument(s) (5). See `jali plan --help`."),
        (("--epsilon", "1", "--error", "-3"), "--error must be above 0"),
        (("--epsilon", "1", "--rows", "0"), "--rows must be a whole number"),
        (("--each-epsilon", "nan", "--queries", "5"), "--each-epsilon is not a finite number"),
        (("--epsilon", "1", "--queries", "5", "--sensitivity", "0"), "--sensitivity must be above 0"),
        (("--epsilon", "1", "--queries", "5", "--confidence", "95"), "--confidence must be between 0 and 1, not"),
        (
            ("--epsilon", "1", "--queries", "5", "--confidence", "high"),
            "--confidence is not a finite number: 'high'",
        ),
        (
            ("--epsilon", "1", "--queries", "5", "--stddev", "--simultaneous"),
            "--simultaneous cannot be combined with --stddev",
        ),
        (
            ("--epsilon", "1", "--queries", "5", "--stddev", "--confidence", ".9"),
            "--confidence cannot be combined with --stddev",
        ),
        (("--epsilon", "1", "--rows", "5", "--confidence", ".9"), "--confidence cannot be combined with --rows"),
        (
            ("--each-epsilon", "1", "--queries", "5", "--confidence", ".9"),
            "--confidence cannot be combined with --each",
        ),
        (
            ("--each-epsilon", "1", "--queries", "5", "--sensitivity", "2"),
            "--sensitivity cannot be combined with --each",
        ),
        (("--epsilon", "1", "--rows", "5", "--simultaneous"), "--simultaneous cannot be combined with --rows"),
        (("--each-epsilon", "1", "--queries", "5", "--stddev"), "--stddev cannot be combined with --each-epsilon"),
    ],
)
def test_wrong_use_is_explained_and_names_the_option(
    jali: Runner, arguments: tuple[str, ...], option: str
) -> None:
    people, program = jali("plan", *arguments), jali("plan", *arguments, "--json")
    assert (people.code, people.out, program.code) == (2, "", 2)
    assert option in people.err
    assert program.document["error"]["exit_code"] == 2


def test_lines_fit_the_page(jali: Runner) -> None:
    outcome = jali("plan", *BUDGET, "--error", "100", "--simultaneous", "--sensitivity", "3")
    assert max(len(line) for line in outcome.out.splitlines()) <= 100


def test_planning_from_a_cold_shell_loads_no_heavy_library_and_no_database(tmp_path: Path) -> None:
    code = (
        "import sys; from jali.cli import main; code = main(sys.argv[1:]); "
        "heavy = {'duckdb', 'sqlglot', 'numpy', 'rich', 'sqlite3'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "plan", *BUDGET, "--queries", "50"],
        env=os.environ | {"PYTHONPATH": SOURCE},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
