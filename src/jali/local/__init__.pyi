# One line per public name. A class here that extends Mechanism is registered: see registry.py.
from .almost_random import AlmostRandom as AlmostRandom
from .choice import best_local as best_local
from .choice import local_candidates as local_candidates
from .estimate import Chances as Chances
from .estimate import Estimate as Estimate
from .hadamard import HadamardResponse as HadamardResponse
from .kary import KaryResponse as KaryResponse
from .randomizer import Randomizer as Randomizer
from .shuffling import ShuffledLoss as ShuffledLoss
from .shuffling import shuffled as shuffled
from .shuffling import shuffled_bound as shuffled_bound
from .simulation import SimulatedSurvey as SimulatedSurvey
from .simulation import simulate_survey as simulate_survey
from .subset import SubsetSelection as SubsetSelection
from .unary import UnaryEncoding as UnaryEncoding
from .warner import Warner as Warner
