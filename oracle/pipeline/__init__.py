"""The edge of a member: follows the chain, takes in messages, performs the actions the cycle asks for."""
