# One line per public name. A class here that extends Attack is registered: see registry.py.
from .attack import Attack as Attack
from .attack import Facts as Facts
from .attack import Guess as Guess
from .attack import Prediction as Prediction
from .hadamard import Hadamard as Hadamard
from .noises import Noise as Noise
from .opponents import simulator as simulator
from .oracle import Opponent as Opponent
from .oracle import Oracle as Oracle
from .oracle import Refusal as Refusal
from .reconstruction import Reconstruction as Reconstruction
from .registry import attacks as attacks
from .result import Result as Result
from .setting import Setting as Setting
from .subsets.subsets import Subsets as Subsets
