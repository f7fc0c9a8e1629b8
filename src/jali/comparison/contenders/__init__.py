"""Who competes for each statistic, one file each, and the registry of them."""
