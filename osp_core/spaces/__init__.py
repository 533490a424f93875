"""Output spaces: what an author writes, and the generic ones."""

from osp_core.spaces.base import Block, OutputSpace, ZeroOneSpace, checks_its_input, derived, norm_ratio

__all__ = ["Block", "OutputSpace", "ZeroOneSpace", "checks_its_input", "derived", "norm_ratio"]
