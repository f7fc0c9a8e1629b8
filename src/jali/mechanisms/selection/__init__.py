"""Selection: the index of a high score among candidates, chosen privately and exactly."""
