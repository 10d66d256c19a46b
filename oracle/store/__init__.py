"""What a member remembers: a cache of evidence and an outbox; deleted, it is rebuilt from chain and publications."""
