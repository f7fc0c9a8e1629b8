"""Oracles for the lab. They hold generated data, and answer in ways that Jali never would.

Nothing outside `jali.lab.attacks` may import them.
"""
