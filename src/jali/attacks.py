"""The old name of `jali.lab.attacks`, the attack lab: it works for one release, with a warning."""

from jali.deprecated import forward_module

__getattr__ = forward_module("jali.attacks")
