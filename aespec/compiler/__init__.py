"""The pipeline from a spec to the plan of a bundle, one short function for each half.

Evaluation lies between the halves, and not here: it runs the spec's programs, in a sandbox.
"""

from aespec.compiler.pipeline import compile_instance, load, load_text

__all__ = ["compile_instance", "load", "load_text"]
