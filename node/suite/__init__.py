"""`swarm node bench`: what this machine can do in each category, measured here and now; nothing is sent."""
