"""Accounts: charging, refusing, what remains, and losses that no filter can count."""

from __future__ import annotations

from fractions import Fraction

import pytest

from jali.errors import BudgetExceeded, CatalogError
from jali.privacy import Approximate, Budget, Concentrated, Filter, Loss, Pure, Renyi
from jali.privacy.accountant import Account, Remaining
from jali.privacy.filters import ApproximateFilter, ConcentratedFilter, PureFilter, Rule
from jali.privacy.losses.finite_mechanism import Finite
from jali.privacy.pld.privacy_loss_distribution import PrivacyLossDistribution

F = Fraction
RULES: list[Rule] = [PureFilter(1), ConcentratedFilter(1, 0.1), ApproximateFilter(1, 0.1), Filter(Budget(1, 0.1))]
rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)


def test_charging_gives_a_new_account_and_leaves_the_old_one() -> None:
    empty = Account(PureFilter(1))
    charged = empty.charge(Pure(0.5)).charge(Pure(0.25))
    assert (empty.remaining.epsilon, charged.remaining.epsilon) == (F(1), F(1, 4))
    assert charged.spent == Pure(0.5).event + Pure(0.25).event


def test_a_refusal_says_requested_remaining_and_difference() -> None:
    account = Account(PureFilter(1), name="my table").charge(Pure(0.75))
    with pytest.raises(BudgetExceeded, match="my table") as refused:
        account.charge(Pure(0.5))
    assert (refused.value.requested, refused.value.remaining) == (F(1, 2), F(1, 4))
    assert refused.value.difference == F(1, 4)
    assert "A question with epsilon 0.25 would still fit" in str(refused.value)


def test_a_refusal_of_gaussian_noise_names_what_would_fit_instead() -> None:
    with pytest.raises(BudgetExceeded, match="a question with epsilon 1 would still fit") as refused:
        Account(PureFilter(1)).charge(Concentrated(0.01))
    assert (refused.value.kind, refused.value.remaining) == ("rho", F(0))


@rules
def test_a_refused_delta_is_told_as_a_delta(rule: Rule) -> None:
    with pytest.raises(BudgetExceeded) as refused:
        Account(rule).charge(Approximate("1e-6", 0.5))
    assert (refused.value.kind, refused.value.requested) == ("delta", F(1, 2))
    assert refused.value.remaining == rule.delta_events


def test_what_remains_is_told_for_each_kind_on_its_own() -> None:
    account = Account(ConcentratedFilter("1/8", 1e-6)).charge(Approximate("3/10", 1e-7))
    assert account.remaining == Remaining(F(4, 10), F(8, 100), F(9, 10**7))
    assert Account(PureFilter(1)).remaining == Remaining(F(1), F(0), F(0))


@rules
def test_affording_is_what_charging_does(rule: Rule) -> None:
    account = Account(rule).charge(Pure(0.1))
    for loss in (Pure(0.05), Pure(0.8), Pure(2), Concentrated(0.001), Concentrated(5), Approximate(0.01, 0.01)):
        if account.affords(loss):
            assert account.charge(loss).spent == account.spent + loss.event
        else:
            with pytest.raises(BudgetExceeded):
                account.charge(loss)


UNCOUNTABLE: list[Loss] = [
    Renyi({2: 0.01, 4: 0.02}),
    Finite.from_pair([0.75, 0.25, 0], [0.75, 0, 0.25]),
    PrivacyLossDistribution([(Pure(0.01), 5)]),
]


@rules
@pytest.mark.parametrize("loss", UNCOUNTABLE, ids=lambda loss: type(loss).__name__)
def test_a_loss_that_filters_cannot_add_up_is_refused_with_the_remedy(rule: Rule, loss: Loss) -> None:
    with pytest.raises(CatalogError, match=r"\.at\(delta\)"):
        Account(rule).charge(loss)
    with pytest.raises(CatalogError, match=r"\.at\(delta\)"):
        Account(rule).affords(loss)


@pytest.mark.parametrize("loss", UNCOUNTABLE, ids=lambda loss: type(loss).__name__)
def test_the_remedy_works(loss: Loss) -> None:
    rule = ConcentratedFilter(1, delta_events=0.5)
    assert Account(rule).charge(loss.at(0.25)).remaining.delta == F(1, 4)
