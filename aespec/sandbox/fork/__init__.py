"""The embedded Linux backend: namespaces and an overlay, no daemon."""
