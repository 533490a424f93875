"""``osp decode``: scores or inputs in, outputs out, one JSON line each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click
import numpy as np

from osp_core.cli.run import parse_param
from osp_core.errors import InvalidInputError

EXAMPLES = """
\b
Examples:
  echo '[2.0, 0.1, -1]' | osp decode --space simplex -p 'classes=["cat","dog","emu"]' --law
  osp decode --model flowers/checkpoints/round-000000000150.ckpt --file new.jsonl --deterministic
"""


@click.command(epilog=EXAMPLES)
@click.option("--space", help="A registered space; the lines are then score vectors.")
@click.option("-p", "--param", "params", multiple=True, metavar="KEY=VALUE", help="A parameter of the space.")
@click.option("--model", type=click.Path(path_type=Path), help="A checkpoint; the lines are then inputs x.")
@click.option(
    "--file", type=click.Path(path_type=Path), help="Where to read the vectors; standard input otherwise."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random outputs.")
@click.option("--deterministic", is_flag=True, help="The nearest output instead of a random one.")
@click.option("--law", is_flag=True, help="Add p, the nearest output, and the mean of the law.")
def command(
    space: str | None,
    params: tuple[str, ...],
    model: Path | None,
    file: Path | None,
    seed: int,
    deterministic: bool,
    law: bool,
) -> None:
    """Turn scores, or inputs of a saved model, into outputs."""
    from osp_core.decoding import default_decoder
    from osp_core.protocol import OnlinePredictor
    from osp_core.registry import make_space

    if (space is None) == (model is None):
        raise InvalidInputError("Give either --space, to decode scores, or --model, to decode inputs.")
    if model is not None:
        predictor = OnlinePredictor.load(model)
        chosen, decoder = predictor.space, predictor.decoder
        width = int(predictor.learner.weights.shape[-1])
    else:
        chosen = make_space(str(space), **dict(map(parse_param, params)))
        decoder, width = default_decoder(chosen, None), chosen.dim
    rng = np.random.default_rng(seed)
    with _lines(file) as source:
        for number, vector in _vectors(source, width):
            theta = predictor.learner.weights @ vector if model is not None else vector
            decoded = decoder.law(chosen.predict(theta))
            output = decoded.nearest if deterministic else decoded.sample(rng)
            answer: dict[str, Any] = {"line": number, "output": _plain(chosen.to_label(output))}
            if law:
                answer |= {
                    "p": _plain(decoded.p),
                    "nearest": _plain(chosen.to_label(decoded.nearest)),
                    "mean": decoded.mean.tolist(),
                    "certified": decoded.certified,
                }
            click.echo(json.dumps(answer, ensure_ascii=False))


class _lines:
    """A file, or standard input, which is left open."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._open: IO[str] | None = None

    def __enter__(self) -> IO[str]:
        if self.file is None:
            return sys.stdin
        try:
            self._open = open(self.file, encoding="utf-8")
        except OSError as error:
            raise InvalidInputError(f"{self.file}: {error.strerror}.") from error
        return self._open

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.close()


def _vectors(lines: IO[str], width: int) -> Iterator[tuple[int, np.ndarray]]:
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            values = json.loads(text if text.lstrip().startswith("[") else f"[{text}]")
            vector = np.array(values, dtype=np.float64)
        except (ValueError, TypeError):
            raise InvalidInputError(
                f"line {number}: expected {width} numbers, got {text.strip()[:60]!r}."
            ) from None
        if vector.shape != (width,) or not np.isfinite(vector).all():
            raise InvalidInputError(f"line {number}: expected {width} finite numbers, got {vector.size}.")
        yield number, vector


def _plain(value: Any) -> Any:
    """Labels and probabilities as JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
