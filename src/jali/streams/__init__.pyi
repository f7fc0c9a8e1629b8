# One line per public name. A class here that extends Mechanism is registered: see mechanisms/registry.py.
from .counter import Counter as Counter
from .counter import Published as Published
from .every_item import EveryItem as EveryItem
from .participation import Participation as Participation
from .running import Running as Running
