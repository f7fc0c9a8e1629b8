# One line per public name. A class here that extends Mechanism is registered: see registry.py.
from .frequency_estimates import Chances as Chances
from .frequency_estimates import Estimate as Estimate
from .frequency_oracles import HadamardResponse as HadamardResponse
from .frequency_oracles import SubsetSelection as SubsetSelection
from .frequency_oracles import UnaryEncoding as UnaryEncoding
from .local_survey import SimulatedSurvey as SimulatedSurvey
from .local_survey import best_local as best_local
from .local_survey import local_candidates as local_candidates
from .local_survey import simulate_survey as simulate_survey
from .randomized_response import AlmostRandom as AlmostRandom
from .randomized_response import KaryResponse as KaryResponse
from .randomized_response import Warner as Warner
from .randomizer import Randomizer as Randomizer
from .shuffling import ShuffledLoss as ShuffledLoss
from .shuffling import shuffled as shuffled
from .shuffling import shuffled_bound as shuffled_bound
