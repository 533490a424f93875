"""Output spaces: what an author writes, and the generic ones."""

from osp_core.spaces.base import Block, OutputSpace
from osp_core.spaces.constants import derived
from osp_core.spaces.validation import checks_its_input
from osp_core.spaces.zero_one import ZeroOneSpace

__all__ = ["Block", "OutputSpace", "ZeroOneSpace", "checks_its_input", "derived"]
