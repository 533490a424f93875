"""The primitives of every space against the peers that install: the part of run.py that is about spaces.

python benchmarks/spaces.py [--short | --full] [--only birkhoff] …
"""

from run import main

if __name__ == "__main__":
    main(("birkhoff", "sorting", "matroids", "polytope", "decode"))
