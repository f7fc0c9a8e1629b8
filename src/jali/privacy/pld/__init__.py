"""Privacy-loss distributions, their discretisation, and their composition by FFT."""
