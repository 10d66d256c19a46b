"""Gateways this node works for: told what it offers, asked what to accept, handed what jobs make, asked to sign receipts."""
