"""Matrices of a device whose copies are out as numpy arrays: the copy, handed back, finds its original.

What travels goes through pinned memory, which torch keeps for the next copy of the size. An array that was handed out is
read-only, so original and copy cannot differ, and its original goes when the array goes.
"""

from weakref import ref

import torch

from swarm_chain.core.rowchain import Int8Matrix


class DeviceCopies:
    """Originals on one device by the arrays that stand for them.

    Args:
        device: where the originals are.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._originals: dict[int, tuple[ref[Int8Matrix], torch.Tensor]] = {}

    def hand_out(self, original: torch.Tensor, *, transposed: bool = False) -> Int8Matrix:
        """Copy a matrix to the host and remember it.

        Args:
            original: (a, b) int8 on the device.
            transposed: whether the array shall be its transpose.

        Returns:
            (a, b) or (b, a) int8, read-only.
        """
        fetched = self.fetched(original)
        fetched.setflags(write=False)
        matrix = fetched.T if transposed else fetched
        key = id(matrix)
        self._originals[key] = ref(matrix, lambda _: self._originals.pop(key, None)), original
        return matrix

    def held(self, matrix: Int8Matrix) -> torch.Tensor | None:
        """The original of an array that was handed out; None for any other array."""
        reference, original = self._originals.get(id(matrix), (None, None))
        return original if reference is not None and reference() is matrix else None

    def taken(self, matrix: Int8Matrix) -> torch.Tensor | None:
        """The original of an array, forgotten here so that the caller may overwrite it; None for any other array."""
        original = self.held(matrix)
        if original is not None:
            del self._originals[id(matrix)]
        return original

    def fetched(self, tensor: torch.Tensor) -> Int8Matrix:
        """Copy a tensor of the device to the host and wait for it: (a, b) int8, the caller's own."""
        pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=self._device.type == "cuda")
        copied: Int8Matrix = pinned.copy_(tensor).numpy()
        return copied
