# One line per public name.
from . import attacks as attacks
from . import local as local
from . import mechanisms as mechanisms
from . import plots as plots
from . import privacy as privacy
from . import streams as streams
from .answer import Answer as Answer
from .comparison.compare import compare as compare
from .connecting import connect as connect
from .database import Database as Database
from .errors import BudgetExceeded as BudgetExceeded
from .errors import CatalogError as CatalogError
from .errors import EngineError as EngineError
from .errors import JaliError as JaliError
from .errors import LedgerError as LedgerError
from .errors import MechanismError as MechanismError
from .errors import QueryError as QueryError
from .errors import Unsupported as Unsupported
from .planner import Plan as Plan
from .privacy import Adjacency as Adjacency
from .privacy import Budget as Budget
from .query.builder import count as count
from .query.builder import count_people as count_people
from .query.builder import mean as mean
from .query.builder import median as median
from .query.builder import quantile as quantile
from .query.builder import stddev as stddev
from .query.builder import sum as sum  # noqa: A004 - read as jali.sum
from .query.catalog import Keys as Keys
from .query.catalog import Range as Range
from .query.catalog import Via as Via
from .query.limits import Limits as Limits
from .session import Session as Session

__version__: str

__all__: list[str]
