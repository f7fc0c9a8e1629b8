"""Pictures of privacy: composition, profiles, trade-offs, spending, errors, comparisons, surveys, attacks, audits.

They are drawn by matplotlib. Each picture has a form without it, whose name ends in `_curves`: what is drawn, as
plain numbers.

>>> from jali.plots import profile_curves
>>> from jali.privacy import Pure
>>> profile_curves({"pure": Pure(1)})["pure"].deltas[-1]
0.0
"""

from __future__ import annotations

from jali.display.plots.attack_result_plots import (
    ConfidenceDot,
    ShareDot,
    attack_calibration,
    attack_roc,
    attack_shares,
    calibration_curves,
    roc_curves,
    share_curves,
)
from jali.display.plots.attack_sweep_plots import (
    SweepDot,
    TourDot,
    attack_sweep,
    attack_tour,
    sweep_curves,
    tour_curves,
)
from jali.display.plots.audit_plots import AuditDot, audit_curves, audits
from jali.display.plots.mechanism_plots import ErrorDot, comparison, comparison_curves, error_curves, errors
from jali.display.plots.privacy_plots import (
    composition,
    composition_curves,
    profile_curves,
    profiles,
    trade_off_curves,
    trade_offs,
)
from jali.display.plots.spending_plots import Spending, spending, spending_curves
from jali.display.plots.survey_plots import SurveyBar, survey, survey_curves

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
