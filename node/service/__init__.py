"""`swarm node service`: the systemd unit that keeps the agent running."""
