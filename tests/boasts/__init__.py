"""Nodes that claim what they do not have, a module a category; each takes the place of the honest auditee."""
