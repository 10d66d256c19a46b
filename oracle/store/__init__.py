"""What a member remembers: a cache of evidence and an outbox. Deleted, it is rebuilt from the chain and the published bundles."""
