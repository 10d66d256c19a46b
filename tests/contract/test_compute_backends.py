"""One suite for every backend of the row chain: numpy, torch on any number of threads, and devices as Ray tasks."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from node.compute.ray_backend import DeviceOptions, RayDevices
from node.ports import FinishedRun
from node.prove import final_heads
from swarm_chain.core.compute import ComputeChallenge, ComputeShape
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.rowchain import Compute, NumpyCompute, input_rows, run_rows, weights
from swarm_chain.reference.rowchain_torch import TorchCompute
from tests.compute_world import CHALLENGE

Heads = Callable[[ComputeChallenge], bytes]
BACKENDS = [NumpyCompute(), TorchCompute("cpu", 1), TorchCompute("cpu", 2), TorchCompute("cpu", 3)]
SHAPES = [
    ComputeShape(m=64, n=64, steps=1),
    ComputeShape(m=128, n=64, steps=5),
    ComputeShape(m=64, n=4096, steps=2),
    ComputeShape(m=8192, n=256, steps=2),
]


@pytest.fixture
def devices(ray_cluster: None) -> Iterator[RayDevices]:
    made = RayDevices(DeviceOptions(threads=2), below=lambda bound: bound - 1)
    yield made
    made.close()


def wait_for(devices: RayDevices) -> FinishedRun:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for finished in devices.finished():
            return finished
        time.sleep(0.01)
    raise AssertionError("the run did not end within a minute")


@pytest.fixture(params=[0, 1, 2, "ray"])
def heads(request: pytest.FixtureRequest) -> Heads:
    if request.param != "ray":
        return lambda challenge: final_heads(challenge, BACKENDS[request.param])
    devices: RayDevices = request.getfixturevalue("devices")

    def on_ray(challenge: ComputeChallenge) -> bytes:
        devices.start(challenge)
        return wait_for(devices).heads

    return on_ray


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_heads_equal_the_reference(heads: Heads, shape: ComputeShape) -> None:
    challenge = replace(CHALLENGE, shape=shape)

    assert heads(challenge) == final_heads(challenge, NumpyCompute())


@pytest.mark.parametrize("backend", BACKENDS, ids=["numpy", "torch-1", "torch-2", "torch-3"])
def test_known_answers_pass(backend: Compute) -> None:
    assert wrong_answers(backend) == ()


@pytest.mark.parametrize("backend", BACKENDS[1:3], ids=["one thread", "two threads"])
@pytest.mark.parametrize("rows", [1, 2, 17, 63])
def test_any_number_of_rows_in_any_order(backend: Compute, rows: int) -> None:
    indices = np.arange(10_000, 10_000 - 37 * rows, -37)
    x, w = input_rows(3, indices, 128), weights(4, 128)

    assert np.array_equal(backend.rows(3, indices, 128), x)
    assert np.array_equal(backend.weights(4, 128), w)
    assert np.array_equal(backend.run_chain(x.copy(), w, 3), run_rows(x, w, 3)[:, :64])


@pytest.mark.parametrize(("x_entry", "w_entry"), [(-128, -64), (-128, 63), (127, -64), (127, 63)])
def test_torch_is_exact_at_the_extremes(x_entry: int, w_entry: int) -> None:
    x = np.full((64, 4096), x_entry, dtype=np.int8)
    w = np.full((4096, 4096), w_entry, dtype=np.int8)

    assert np.array_equal(TorchCompute("cpu", 2).run_chain(x.copy(), w, 1), NumpyCompute().run_chain(x, w, 1))


def test_torch_leaves_the_number_of_threads_as_it_was() -> None:
    import torch

    before = torch.get_num_threads()
    final_heads(CHALLENGE, TorchCompute("cpu", 2))

    assert torch.get_num_threads() == before


def test_ray_device_names_its_backend(devices: RayDevices) -> None:
    (name,) = devices.examine()

    assert name in {"torch-cpu", "numpy"}
    assert devices.indices() == (0,)


def test_ray_device_works_on_one_challenge_at_a_time(devices: RayDevices) -> None:
    devices.start(CHALLENGE)
    with pytest.raises(InvalidInputError, match="cannot start"):
        devices.start(CHALLENGE)

    assert wait_for(devices).challenge == CHALLENGE
    assert devices.finished() == ()


def test_ray_device_that_does_not_exist_is_refused(devices: RayDevices) -> None:
    with pytest.raises(InvalidInputError, match="device 1 cannot start"):
        devices.start(replace(CHALLENGE, device=1))


def test_run_that_fails_on_ray_says_why_and_frees_the_device(ray_cluster: None) -> None:
    # Rows to check that no run has: the worker cannot finish, and the agent must hear of it.
    devices = RayDevices(DeviceOptions(threads=1), below=lambda _: -1)
    devices.start(CHALLENGE)
    failed = wait_for(devices)

    assert failed.heads == b""
    assert failed.error
    devices.start(CHALLENGE)
    devices.close()
    assert devices.finished() == ()
