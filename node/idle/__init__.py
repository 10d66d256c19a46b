"""`swarm node why-idle`: from what chain, oracle and this machine show to the sentences that explain it."""
