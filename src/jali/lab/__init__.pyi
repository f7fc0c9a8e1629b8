from . import attacks as attacks
from . import audit as audit
from . import compare as compare
