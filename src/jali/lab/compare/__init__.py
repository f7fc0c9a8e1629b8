"""Compare the errors of all mechanisms for a statistic, side by side, on given or generated data.

What is shown here is exact and not private: it is for data that are public or made up, and for the one who owns
them.
"""
