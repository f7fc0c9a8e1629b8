"""Planning: which noise, how much of it, how many questions, and what budget is enough."""
