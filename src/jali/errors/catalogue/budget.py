"""Texts about budgets that refuse a question."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "budget-amount": Text(
        "epsilon={epsilon:decimal}, delta={delta:decimal}",
        page=Words("epsilon {epsilon:decimal}{has_delta:?, delta {delta:decimal}|}"),
    ),
    "budget-exceeded": Text(
        "The budget of {account} does not cover {subject}. {facts:* }",
        "{advice}",
        command_line=Words("The budget of {account} does not cover {subject}."),
        http=Words("The budget of {account} does not cover {subject}."),
        page=Words("The budget of {account} does not cover {subject}."),
    ),
    "budget-fits-coarser": Text("This question would not be answered for less; coarser ones would."),
    "budget-fits-in-all": Text("What would fit: {subject} for {kind} {amount} in all."),
    "budget-fits-less": Text("A question with {terms} would still be answered."),
    "budget-fits-other-kind": Text("In {kind} nothing is left; a question with {terms} would be answered."),
    "budget-remaining": Text(
        "epsilon {epsilon:decimal} (or rho {rho:decimal}){has_delta:?, delta {delta:decimal}|}",
        page=Words(
            "epsilon {epsilon:decimal}{has_rho:? (or rho {rho:decimal})|}{has_delta:?, delta {delta:decimal}|}"
        ),
    ),
    "budget-used-up": Text("Nothing is left on this budget; answers already given can be asked again for free."),
    "budget-used-up-for-question": Text(
        "Nothing is left for this question; answers already given can be asked again for free."
    ),
    "leaves-for-free": Text("answered before: free; {remaining} of {budget} stays"),
    "leaves-some": Text("{remaining} of {budget}"),
    "leaves-too-little": Text("the question would be refused: {remaining} is left"),
    "leaves-without-grant": Text(
        "the question would be refused: {analyst} has no grant on {table}; the curator gives one"
    ),
}
