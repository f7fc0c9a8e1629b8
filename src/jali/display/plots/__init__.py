"""Plots by matplotlib, of answers, streams, privacy losses, attacks and audits.

Each plot is a function that returns matplotlib's axes; the function of the same arguments whose name ends in
`_curves` returns what is drawn, as plain numbers, and needs no library.
"""
