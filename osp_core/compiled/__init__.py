"""Whole rounds in compiled code, for spaces that offer their functions in a form numba can compile.

One text of the round (`rounds`) takes the functions of a space, a regularizer, a decoder and a learner.
Compiled, it serves `OnlinePredictor.step` and `run`; as plain Python, it is the twin of the tests.
"""

from osp_core.compiled.parts import SpaceParts

__all__ = ["SpaceParts"]
