"""Edits of end states, and the families of them that the fuzzer draws from."""
