"""The verbs of the command line, one module each.

A module imports the database, the mathematics and drawing inside its functions: `jali --help` starts quickly.
"""
