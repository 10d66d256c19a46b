"""HTTP service of a member: what nodes send, what everybody may read."""
