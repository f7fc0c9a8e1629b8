"""`python -m jali` is `jali`."""

from jali.cli import main

main()
