# One line per public name.
from .comparison_table import Comparison as Comparison
from .measure_errors import compare as compare

__all__: list[str]
