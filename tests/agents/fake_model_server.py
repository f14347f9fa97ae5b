"""The scripted model server by itself: `python -m tests.agents.fake_model_server --port 18080 --log server.jsonl`.

`POST /_ctl {"status": 500}` sets a switch for all later requests, `GET /_log` gives what was asked so far.
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from tests.agents.fake_model.server import FakeModel


def main() -> None:
    """Serve until interrupted; the first line printed is the address."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 = any free port (printed)")
    parser.add_argument("--log", type=Path, help="append events to this JSON-lines file")
    parser.add_argument("--dump", type=Path, help="write every request body into this folder")
    given = parser.parse_args()
    if given.dump:
        given.dump.mkdir(parents=True, exist_ok=True)
    with FakeModel(given.port, log=given.log, dump=given.dump) as model:
        print(f"listening on http://127.0.0.1:{model.port}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
