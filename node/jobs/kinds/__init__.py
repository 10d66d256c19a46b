"""What runs a kind of job on Ray: one module a kind."""
