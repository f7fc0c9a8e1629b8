"""Pictures of privacy: composition, profiles, trade-offs, spending, errors, comparisons, surveys, attacks, audits.

They are drawn by matplotlib. Each picture has a form without it, whose name ends in `_curves`: what is drawn, as
plain numbers.

>>> from jali.plots import profile_curves
>>> from jali.privacy import Pure
>>> profile_curves({"pure": Pure(1)})["pure"].deltas[-1]
0.0
"""

from __future__ import annotations

from jali.display.pictures.attack_calibration import ConfidenceDot, attack_calibration, calibration_curves
from jali.display.pictures.attack_roc import attack_roc, roc_curves
from jali.display.pictures.attack_shares import ShareDot, attack_shares, share_curves
from jali.display.pictures.attack_sweep import SweepDot, attack_sweep, sweep_curves
from jali.display.pictures.attack_tour import TourDot, attack_tour, tour_curves
from jali.display.pictures.audits import AuditDot, audit_curves, audits
from jali.display.pictures.comparison import ErrorDot, comparison, comparison_curves
from jali.display.pictures.composition import composition, composition_curves
from jali.display.pictures.errors import error_curves, errors
from jali.display.pictures.profiles import profile_curves, profiles
from jali.display.pictures.spending import Spending, spending, spending_curves
from jali.display.pictures.survey import SurveyBar, survey, survey_curves
from jali.display.pictures.trade_offs import trade_off_curves, trade_offs

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
