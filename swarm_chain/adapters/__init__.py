"""Edges to the chain, the key files and the clock; the only place that knows web3."""
