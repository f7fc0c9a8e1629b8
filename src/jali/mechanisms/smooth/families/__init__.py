"""Admissible noises: laws that change little when they are shifted and stretched a little."""
