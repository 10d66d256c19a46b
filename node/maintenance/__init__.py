"""Announcing on chain that this node will be away."""
