"""Specs of reinforcement-learning tasks: compiled to sandbox bundles, their verifiers put to the proof.

The package imports nothing heavy by itself; each command imports what it needs.
"""

__version__ = "0.1.0"
