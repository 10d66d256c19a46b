"""The Solidity compiler of npm as a child process that stays loaded."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self, cast

from swarm_chain.core.errors import UnavailableError

COMPILER = Path(__file__).with_name("compiler.js")


class Compiler:
    """A Solidity compiler that stays loaded in a child process."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(COMPILER), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._input, self._output = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def compile(self, sources: Mapping[str, str], selection: Mapping[str, Any]) -> dict[str, Any]:
        """The compiler's answer in its standard JSON; `errors` says whether it compiled.

        Args:
            sources: file to text; what they import is read below the folder.
            selection: `outputSelection` of standard JSON.

        Raises:
            UnavailableError: the child process died.
        """
        settings = {
            "remappings": ["@openzeppelin/contracts/=node_modules/@openzeppelin/contracts/"],
            "evmVersion": "prague",
            "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
            "outputSelection": selection,
        }
        contents = {path: {"content": text} for path, text in sources.items()}
        question = json.dumps({"language": "Solidity", "sources": contents, "settings": settings})
        self._input.write(f"{question}\n")
        self._input.flush()
        answer = self._output.readline()
        if not answer:
            raise UnavailableError("the compiler's process died", fix="run it by hand: node tools/audit/compiler.js .")
        found: dict[str, Any] = json.loads(answer)
        return found
