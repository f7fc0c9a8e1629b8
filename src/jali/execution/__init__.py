"""From a question to an answer: plan, recall, reserve, run, measure, release, postprocess.

`ask` is the one way from a plan to an answer; `ask_batch` does the same for batches, and `two_phase` reserves and
runs apart, as a server needs it. Accounts, declared tables and durable streams are here as well.
"""
