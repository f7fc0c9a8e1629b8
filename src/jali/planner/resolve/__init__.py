"""Resolve written names and relations against the catalog, and prove whose row each row is."""
