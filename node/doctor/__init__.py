"""`swarm node doctor`: probes (thin) -> facts (frozen) -> judgements (pure) -> a table. Nothing is changed or sent."""
