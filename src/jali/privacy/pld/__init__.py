"""Privacy-loss distributions: laws of the loss, their discretisation, and their composition by FFT."""
