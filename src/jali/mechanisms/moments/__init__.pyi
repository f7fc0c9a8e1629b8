from .axis import Axis as Axis
from .importance import importance as importance
from .interval import moment_interval as moment_interval
from .kinds import KINDS as KINDS
from .kinds import SQUARE_CENTER as SQUARE_CENTER
from .value import moment_value as moment_value
