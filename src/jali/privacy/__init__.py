"""The calculus of privacy: adjacency, losses, budgets and the filter. No data, no SQL, no randomness."""

from jali.numerals import decimal
from jali.privacy.adjacency import Adjacency
from jali.privacy.budget import Budget
from jali.privacy.convert import largest_rho
from jali.privacy.filter import Filter
from jali.privacy.loss import NOTHING, Approximate, Concentrated, Event, Loss, Pure
from jali.privacy.rational import rational

__all__ = [
    "NOTHING",
    "Adjacency",
    "Approximate",
    "Budget",
    "Concentrated",
    "Event",
    "Filter",
    "Loss",
    "Pure",
    "decimal",
    "largest_rho",
    "rational",
]
