"""Serving the reference model: a Ray Serve application behind an HTTP ingress of the agent."""
