"""Kinds of jobs that have something of Ray's own: each module runs the units of one program."""
