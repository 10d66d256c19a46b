"""Audits by oracle members: what to be audited in, and one audit from the request to its openings."""
