"""The stages of an audit, in order, and the share of the effort that each is given."""

from __future__ import annotations

from jali.audit.subject import Subject
from jali.audit.testers.enumeration import Enumeration
from jali.audit.testers.one_run import OneRun
from jali.audit.testers.pairwise import Pairwise
from jali.audit.testers.properties import Properties
from jali.audit.testers.reachability import Reachability
from jali.audit.testers.shape import Shape
from jali.audit.testers.tester import Tester

STAGES: tuple[Tester, ...] = (Enumeration(), Properties(), Shape(), Reachability(), Pairwise(), OneRun())
# Where the law of the outputs is known: that it keeps the claim, and that outputs follow it, is all to show.
LAWFUL: tuple[Tester, ...] = (Enumeration(), Shape())
# The weight of each in the samples and in the error that is allowed. An exact stage takes neither; what is
# conclusive where it shows at all needs little of both.
WEIGHTS = {"exact": 0, "properties": 1, "shape": 2, "reachability": 1, "pairwise": 16, "one run": 4}


def briefly(subject: Subject) -> tuple[Tester, ...]:
    """Return the stages that a subject needs at least: of one with a known law, those about the law."""
    return LAWFUL if all(tester.applies(subject) for tester in LAWFUL) else STAGES
