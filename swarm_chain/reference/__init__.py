"""Programs that a node runs and an oracle replays bit for bit. Depends on the core only; torch is imported late."""
