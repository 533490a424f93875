"""Output spaces: what an author writes, and the generic ones."""

from osp_core.spaces.base import OutputSpace
from osp_core.spaces.blocks import Block
from osp_core.spaces.derived import derived
from osp_core.spaces.validation import checks_its_input
from osp_core.spaces.zero_one import ZeroOneSpace

__all__ = ["Block", "OutputSpace", "ZeroOneSpace", "checks_its_input", "derived"]
