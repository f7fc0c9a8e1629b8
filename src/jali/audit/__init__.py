"""The auditor: tries to prove a privacy claim false. A pass says what was tried, never more."""

from jali.audit.exact import audit_exactly
from jali.audit.finding import Finding, Verdict
from jali.audit.registry import REGISTRY, Registration

__all__ = ["REGISTRY", "Finding", "Registration", "Verdict", "audit_exactly"]
