"""Post-processing of releases, which costs no privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from jali.errors import CatalogError
from jali.privacy.loss import Loss

Result = TypeVar("Result")
Next = TypeVar("Next")


class Releasing(Protocol):
    """Anything that knows its loss and releases something."""

    @property
    def loss(self) -> Loss:
        """What a release spends."""

    @property
    def release(self) -> Callable[..., Any]:
        """The function that reads the data and adds the noise."""


@dataclass(frozen=True)
class PostProcessed(Generic[Result]):
    """A mechanism followed by a function of its release; made by `postprocess`.

    Attributes:
        mechanism: What reads the data.
        function: What is done with the release.

    Guarantee:
        The loss is that of the mechanism, of every kind and for every function of the release, also a randomized
        one, provided that the function reads nothing else that depends on the data.
    Proof:
        docs/proofs/postprocessing.md
    """

    mechanism: Releasing
    function: Callable[[Any], Result]

    @property
    def loss(self) -> Loss:
        """The loss of the mechanism: what follows the release costs nothing."""
        return self.mechanism.loss

    def release(self, *args: Any, **options: Any) -> Result:
        """Release by the mechanism, and return the function of that release."""
        return self.function(self.mechanism.release(*args, **options))

    def then(self, function: Callable[[Result], Next]) -> PostProcessed[Next]:
        """Return this, followed by another function."""
        return postprocess(self, function)


def postprocess(mechanism: Releasing, function: Callable[[Any], Result]) -> PostProcessed[Result]:
    """Return a mechanism followed by a function of its release, at the loss of the mechanism.

    Args:
        mechanism: Anything with a `loss` and a `release`.
        function: Any function of the release, deterministic or randomized. It must not read the data again.

    Example:
        >>> from jali.mechanisms import Laplace
        >>> count = postprocess(Laplace(sensitivity=1, epsilon=0.5), lambda noisy: max(0, noisy))
        >>> count.loss
        Pure(0.5)
        >>> count.release(3) >= 0
        True
    """
    if not isinstance(getattr(mechanism, "loss", None), Loss) or not callable(getattr(mechanism, "release", None)):
        raise CatalogError("postprocessing-no-mechanism")
    if not callable(function):
        raise CatalogError("postprocessing-no-function")
    return PostProcessed(mechanism, function)
