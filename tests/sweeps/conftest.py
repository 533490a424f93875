"""A small grid, and what of a sweep must be the same however it is done."""

import pytest


@pytest.fixture
def grid():
    return {
        "stream": "linear_teacher",
        "rounds": 40,
        "repeats": 2,
        "grid": {
            "learner": ["ogd", "parameter_free"],
            "stream_params.noise": [0.0, 0.3],
            "problem": [
                {"space": "simplex", "params": {"d": 4}},
                {"space": "ordinal", "params": {"d": 3}},
            ],
        },
    }


@pytest.fixture
def essence():
    """The rows without the time they took, in an order of their own."""

    def of(rows):
        kept = [{name: value for name, value in row.items() if name != "seconds"} for row in rows]
        return sorted(kept, key=lambda row: row["key"])

    return of
