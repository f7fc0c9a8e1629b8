"""Mechanisms that use stability: propose-test-release, stable values and bounded local sensitivity."""
