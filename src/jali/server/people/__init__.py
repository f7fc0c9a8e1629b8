"""Who is calling: tokens, signed cookies, and how often somebody may call."""
