"""Serving jobs on Ray Serve: an endpoint until its requests are answered or its time is over; the log is the contents.

customers --HTTP--> ingress --meter--> replicas, batched        answered --n at a time--> folder
                                  versions: known answers asked of the replicas, then the name moves, or it stays
"""

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty
from types import MappingProxyType
from typing import Any, cast

from node.jobs.folder import JobFolder, write_whole
from node.jobs.work import Work
from node.serving.batches import Batching, TokenRequest
from node.serving.embeddings import add_embeddings, require_key
from node.serving.endpoint import HttpEndpoint, serve_faults, start_application, token_source, whole_source
from node.serving.ingress import create_ingress
from node.serving.keeper import keep
from node.serving.meter import Meter
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.serve import (
    Answered,
    ModelVersion,
    ServeProgram,
    ServeWork,
    dump_log,
    parse_log,
)
from swarm_chain.reference.programs.tokens import seed_hash
from swarm_chain.web.listening import listening

CURRENT = "swarm"  # the name that always means the version served last
BATCHING = Batching(max_batch_size=64)
ONGOING = 16  # requests a replica has under way before Ray Serve starts another
LOOK_EVERY_S = 0.1
# What Ray Serve's autoscaling goes by: load over the last two reports, replicas before it is here, fewer after a minute.
SCALING = MappingProxyType(
    {
        "look_back_period_s": 11.0,
        "upscale_delay_s": 1.0,
        "downscale_delay_s": 60.0,
        "policy": {"policy_function": "node.jobs.kinds.forecast:replicas_ahead"},
    }
)


@dataclass(slots=True, kw_only=True)
class Rollout:
    """Versions of a job as they are served: `models` are seeds by the names customers ask for."""

    work: ServeWork
    handle: Any
    models: dict[str, Hash32] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)

    def advance(self, answered: int) -> bool:
        """Tries the versions whose turn has come; whether one was tried.

        Raises:
            InvalidInputError: the first version fails its known answers, so there is nothing to serve.
        """
        due = [one for one in self.work.versions if one.after <= answered and one.name not in self.states]
        for version in due:
            holds = all(
                self._asked(version, known.prompt, len(known.answer)) == known.answer for known in version.known
            )
            self.states[version.name] = "served" if holds else "rolled_back"
            if holds:
                self.models[version.name] = self.models[CURRENT] = seed_hash(version.seed)
        if not self.models:
            raise InvalidInputError(
                "the first version does not give its known answers",
                fix="correct the seed, or the answers in work.versions",
                code="unhealthy_version",
            )
        return bool(due)

    def _asked(self, version: ModelVersion, prompt: tuple[int, ...], tokens: int) -> tuple[int, ...]:
        request = TokenRequest(model=seed_hash(version.seed), prompt=prompt, tokens=tokens)
        with serve_faults():
            return tuple(self.handle.options(method_name="whole").remote(request).result())


@dataclass(slots=True, kw_only=True)
class Book:
    """Answered requests on their way to the folder: `size` a content, `unit` is the next one's."""

    folder: JobFolder
    size: int
    unit: int
    answered: int
    log: list[Answered] = field(default_factory=list)
    began: int = field(default_factory=time.monotonic_ns)

    def add(self, entry: Answered) -> None:
        """Writes a content if this was its last request."""
        self.log.append(entry)
        self.answered += 1
        if len(self.log) == self.size:
            self.close()

    def close(self) -> None:
        """Writes what is left, if anything; the time since the last content counts for it."""
        if not self.log:
            return
        self.folder.keep(self.unit + 1, dump_log(self.unit, self.log))
        self.folder.add_time((time.monotonic_ns() - self.began) // 1_000_000)
        self.folder.say(f"unit {self.unit + 1}: {len(self.log)} requests answered")
        self.unit, self.log, self.began = self.unit + 1, [], time.monotonic_ns()


def run_serve(work: Work) -> None:
    """Serves, writing a content whenever its requests are answered, and empty ones for what was not asked.

    Args:
        work: the job; contents its folder holds are kept, and requests in them count as answered.

    Raises:
        InvalidInputError: the first version fails its known answers.
        UnavailableError: Ray Serve does not start.
    """
    program, folder = cast(ServeProgram, work.program), work.folder
    if folder.kept(0) is None:
        folder.keep(0, program.first())
    logs = _kept_logs(program, folder)
    full = all(len(log) == program.work.requests_per_unit for log in logs)  # one that is not was the last
    if len(logs) < program.units and full:
        _serve(work, program.work, len(logs))
    for unit in range(program.units):
        if folder.kept(unit + 1) is None:
            folder.keep(unit + 1, dump_log(unit, ()))


def _kept_logs(program: ServeProgram, folder: JobFolder) -> list[tuple[Answered, ...]]:
    logs = []
    for unit in range(program.units):
        content = folder.kept(unit + 1)
        if content is None:
            break
        logs.append(parse_log(content).log)
    return logs


def _serve(work: Work, wanted: ServeWork, unit: int) -> None:
    book = Book(folder=work.folder, size=wanted.requests_per_unit, unit=unit, answered=unit * wanted.requests_per_unit)
    meter = Meter(wanted.requests - book.answered, wanted.context)
    until = _until(work.folder, wanted.serve_for)
    with _application(work, wanted) as rollout, _endpoint(wanted, rollout, meter, book.answered) as url:
        _report(work.folder, url, rollout, book.answered)
        while book.answered < wanted.requests and time.time() < until:
            try:
                book.add(meter.answered.get(timeout=LOOK_EVERY_S))
            except Empty:
                continue
            if rollout.advance(book.answered):
                _report(work.folder, url, rollout, book.answered)
    while not meter.answered.empty():  # answered while the endpoint closed
        book.add(meter.answered.get())
    book.close()


@contextmanager
def _application(work: Work, wanted: ServeWork) -> Iterator[Rollout]:
    """Replicas of the job's own, as many as it has workers at most; gone with this process, however it ends."""
    from ray import serve

    name, own = f"job-{uuid.uuid4().hex[:12]}", work.spec.resources
    actor: dict[str, Any] = {"num_cpus": own.cpus, "num_gpus": own.gpus, "memory": own.memory_mb * 1_000_000}
    if work.labels:
        actor["label_selector"] = dict(work.labels)
    scale = {"min_replicas": 1, "max_replicas": own.workers, "target_ongoing_requests": ONGOING, **SCALING}
    placed = {"ray_actor_options": actor, "num_replicas": None, "autoscaling_config": scale}
    held = keep(name)
    handle = start_application(name, placed, wanted.sizes, BATCHING)
    try:
        yield Rollout(work=wanted, handle=handle)
    finally:
        serve.delete(name)
        del held


@contextmanager
def _endpoint(wanted: ServeWork, rollout: Rollout, meter: Meter, answered: int) -> Iterator[str]:
    """URL of the endpoint; it listens where this Ray node does, which in a cluster is its address in the mesh."""
    from ray.util import get_node_ip_address

    rollout.advance(answered)
    app = create_ingress(wanted.sizes, rollout.models, meter.tokens(token_source(rollout.handle)))
    add_embeddings(app, wanted.sizes, rollout.models, meter.embeddings(whole_source(rollout.handle)))
    if wanted.key is not None:
        require_key(app, hash_from_hex(wanted.key))
    address: str = get_node_ip_address()  # type: ignore[no-untyped-call]  # Ray has no types for it
    http = HttpEndpoint(listening(address, 0), app)
    try:
        yield f"http://{f'[{address}]' if ':' in address else address}:{http.port}"
    finally:
        http.close()


def _until(folder: JobFolder, serve_for: int) -> int:
    """Unix time of its end: whoever resumes it does not serve longer than was asked."""
    path = folder.path / "serve_until"
    if not path.exists():
        write_whole(path, str(int(time.time()) + serve_for).encode("ascii"))
    return int(path.read_text(encoding="ascii"))


def _report(folder: JobFolder, url: str, rollout: Rollout, answered: int) -> None:
    versions = [{"name": name, "state": state} for name, state in rollout.states.items()]
    document = {"url": url, "model": CURRENT, "versions": versions, "answered": answered}
    write_whole(folder.path / "report.json", json.dumps(document).encode())
    folder.say(f"serving on {url}: " + ", ".join(f"{one['name']} {one['state']}" for one in versions))
