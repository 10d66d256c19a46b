"""Child processes of a story: started with a log each, ended in order, their last words shown when something fails."""

import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

STOP_S = 30
LAST_LINES = 12


@dataclass(slots=True)
class Processes:
    """All processes of one story; only these are ever ended."""

    logs: Path
    environment: dict[str, str]
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(self, name: str, *command: str, **more: str) -> None:
        """Starts a command under a name, with more environment than the others; its output goes to logs/<name>.log."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with open(self.logs / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **self.environment, **more},
                start_new_session=True,
            )

    def stop(self, *names: str) -> None:
        """Ends processes at the same time and waits; one that does not listen is killed."""
        ending = [self.running.pop(name) for name in names]
        for process in ending:
            process.send_signal(signal.SIGTERM)
        for process in ending:
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def require_alive(self) -> None:
        """Fails with the last words of a process that ended by itself."""
        for name, process in self.running.items():
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended with {process.returncode}:\n{self.last_words(name)}")

    def last_words(self, name: str) -> str:
        """The end of a process' log."""
        path = self.logs / f"{name}.log"
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        return "\n".join(lines[-LAST_LINES:])

    def stop_all(self) -> None:
        """Ends everything."""
        self.stop(*self.running)
