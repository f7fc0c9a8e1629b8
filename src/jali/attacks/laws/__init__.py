"""The laws of attacks: how much is right, for which noise and how many questions."""
