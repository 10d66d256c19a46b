"""HTTP of a gateway."""
