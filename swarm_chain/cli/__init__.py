"""The `swarm` command: nouns, then verbs; one module per noun."""
