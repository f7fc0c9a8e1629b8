from .moment_importance import importance as importance
from .moment_intervals import moment_interval as moment_interval
from .moment_sums import KINDS as KINDS
from .moment_sums import SQUARE_CENTER as SQUARE_CENTER
from .moment_sums import Axis as Axis
from .moment_values import moment_value as moment_value
