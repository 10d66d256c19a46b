"""Both sides of a dispute at ComputeCourt: what the chain says of it, whose move it is, and what that move needs.

events --fold--> CourtView --next_move(accusation, side, …)--> Move --(whoever holds a key)--> chain

Nothing here holds a key or a socket: chain, oracle and clock are arguments. Source: docs/spec/compute-court.md.
"""
