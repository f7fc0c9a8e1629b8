"""Texts about budgets that refuse a question."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "budget-exceeded": Text(
        "The budget of {account} does not cover {subject}. {facts:* }",
        "{advice}",
        command_line=Words("The budget of {account} does not cover {subject}."),
        http=Words("The budget of {account} does not cover {subject}."),
        page=Words("The budget of {account} does not cover {subject}."),
    ),
    "budget-fits-in-all": Text("What would fit: {subject} for {kind} {amount} in all."),
    "budget-fits-coarser": Text("This question would not be answered for less; coarser ones would."),
    "budget-fits-less": Text("A question with {terms} would still be answered."),
    "budget-fits-other-kind": Text("In {kind} nothing is left; a question with {terms} would be answered."),
    "budget-used-up": Text("Nothing is left on this budget; answers already given can be asked again for free."),
    "budget-used-up-for-question": Text(
        "Nothing is left for this question; answers already given can be asked again for free."
    ),
}
