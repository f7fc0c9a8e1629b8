"""The old name of `jali.lab.audit`, the auditor: it works for one release, with a warning."""

from jali.deprecated import forward_module

__getattr__ = forward_module("jali.audit")
