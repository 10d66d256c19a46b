"""Dishonest claims, one module a category: each has the interface of what it stands in for."""
