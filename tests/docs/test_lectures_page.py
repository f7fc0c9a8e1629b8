"""docs/lectures.md is true: every block runs and prints what the page shows, and no question is left out."""

from __future__ import annotations

import doctest
import re

import pytest
from tests.depth import deep
from tests.docs.sessions import DOCS, blocks, failures

PAGE = (DOCS / "lectures.md").read_text()
BLOCKS = blocks("lectures.md")


@deep
def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks follow each other in one session, as a reader would type them."""
    assert failures("lectures.md") == 0, capsys.readouterr().out


def test_every_block_shows_a_result_and_is_python() -> None:
    assert len(BLOCKS) >= 14
    assert len(BLOCKS) == PAGE.count("```") / 2
    for block in BLOCKS:
        examples = doctest.DocTestParser().get_examples(block)
        assert any(example.want for example in examples)


@pytest.mark.parametrize(
    "question",
    [
        "What is the sensitivity?",
        "The privacy loss of an outcome",
        "Prior and posterior",
        "How much privacy loss shall we allow?",
        "Does this exclude reconstruction?",
        "Does adding noise protect privacy?",
        "Post-processing",
        "Group privacy: what is revealed about k people?",
        "What do the examples cost?",
        "Can we do better?",
        "The two DummySums",
        "Continual release",
        "Releasing partial sums, at one global epsilon",
        "What do factorizations gain?",
        "Parallel composition",
        "Budget against epsilon",
        "How many queries can we answer?",
        "How exact is the Laplace mechanism?",
        "Randomized response",
        "Which candidate is the best?",
        "Heavy hitters",
        "Pricing a digital good",
        "Why not the global sensitivity?",
        "The median.",
        "The slope of a line.",
        "Noise scaled to the local sensitivity leaks",
        "Smooth sensitivity",
        "Which noise may be scaled to it?",
        "Propose, test, release",
        "Privately bounding the local sensitivity",
        "Corrections to the notes",
    ],
)
def test_the_page_answers_every_question(question: str) -> None:
    assert re.search(rf"^(## |\*\*){re.escape(question)}", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "figure", ["[896, 686, 224, 84, 70]", "'35/6'", "('l_inf', 6.67)", "(30, 37)", "63.7628152", "1.04219"]
)
def test_the_figures_of_the_theory_are_printed(figure: str) -> None:
    """What is printed is compared by the first test; this one keeps the figures from being edited away."""
    assert figure in PAGE
