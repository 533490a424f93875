"""Not installed, not collected: these tests belong to a distribution of their own."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("osp_intervals") else ["*"]
