"""Tests of data that another package carries are collected where it is installed."""

import importlib.util

collect_ignore_glob = [
    f"*_{package}.py"
    for package in ("sklearn", "river", "mlxtend", "skordinal")
    if importlib.util.find_spec(package) is None
]
