"""Events: sets of outputs, in words and as tests on numbers, that a file can keep."""
