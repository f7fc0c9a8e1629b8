"""The old name of `jali.sampling`, the exact samplers: it works for one release, with a warning."""

from jali.deprecated import forward_module

__getattr__ = forward_module("jali.noise")
