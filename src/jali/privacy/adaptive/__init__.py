"""Adaptivity: filters refuse, odometers report, whatever was chosen after seeing earlier answers."""
