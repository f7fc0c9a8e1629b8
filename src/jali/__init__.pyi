# One line per public name.
from . import lab as lab
from . import mechanisms as mechanisms
from . import privacy as privacy
from . import streams as streams
from .answer import Answer as Answer
from .catalog.columns import Keys as Keys
from .catalog.columns import Range as Range
from .catalog.columns import Via as Via
from .connection import connect as connect
from .database import Database as Database
from .errors import BudgetExceeded as BudgetExceeded
from .errors import JaliError as JaliError
from .planner import Plan as Plan
from .privacy import Adjacency as Adjacency
from .privacy import Budget as Budget
from .session import Session as Session
from .sql.builder import count as count
from .sql.builder import count_people as count_people
from .sql.builder import mean as mean
from .sql.builder import median as median
from .sql.builder import quantile as quantile
from .sql.builder import stddev as stddev
from .sql.builder import sum as sum  # noqa: A004 - read as jali.sum
from .sql.question_limits import Limits as Limits

__version__: str

__all__: list[str]
