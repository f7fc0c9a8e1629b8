"""Pictures of privacy: composition, profiles, trade-offs, spending, errors, comparisons, surveys, attacks, audits.

They are drawn by matplotlib. Each picture has a form without it, whose name ends in `_curves`: what is drawn, as
plain numbers.

>>> from jali.plots import profile_curves
>>> from jali.privacy import Pure
>>> profile_curves({"pure": Pure(1)})["pure"].deltas[-1]
0.0
"""

from __future__ import annotations

from jali.display.plots.mechanism_plots import SurveyBar, error_curves, errors, survey, survey_curves
from jali.display.plots.privacy_plots import (
    Spending,
    composition,
    composition_curves,
    profile_curves,
    profiles,
    spending,
    spending_curves,
    trade_off_curves,
    trade_offs,
)
from jali.lab.attacks.attack_plots import (
    ConfidenceDot,
    ShareDot,
    SweepDot,
    TourDot,
    attack_calibration,
    attack_roc,
    attack_shares,
    attack_sweep,
    attack_tour,
    calibration_curves,
    roc_curves,
    share_curves,
    sweep_curves,
    tour_curves,
)
from jali.lab.audit.audit_plots import AuditDot, audit_curves, audits
from jali.lab.compare.comparison_table import ErrorDot, comparison, comparison_curves

__all__ = [
    "AuditDot",
    "ConfidenceDot",
    "ErrorDot",
    "ShareDot",
    "Spending",
    "SurveyBar",
    "SweepDot",
    "TourDot",
    "attack_calibration",
    "attack_roc",
    "attack_shares",
    "attack_sweep",
    "attack_tour",
    "audit_curves",
    "audits",
    "calibration_curves",
    "comparison",
    "comparison_curves",
    "composition",
    "composition_curves",
    "error_curves",
    "errors",
    "profile_curves",
    "profiles",
    "roc_curves",
    "share_curves",
    "spending",
    "spending_curves",
    "survey",
    "survey_curves",
    "sweep_curves",
    "tour_curves",
    "trade_off_curves",
    "trade_offs",
]
