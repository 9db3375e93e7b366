"""The families of operators, one module each, found by a scan of this folder."""
