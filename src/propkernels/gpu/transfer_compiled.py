"""Compiled loops beside copies: they ask the system for pages, and write what has arrived to its place."""

from __future__ import annotations

from typing import Any

from numba.extending import intrinsic, overload

from propkernels._utils.jit import compiled


def seen(flags: Any, place: Any) -> Any:
    """Return ``flags[place]``; what another thread wrote before it set this flag is seen from now on."""
    return flags[place]


def tell(flags: Any, place: Any, value: Any) -> None:
    """Set ``flags[place]`` of an int64 array after all that this thread has written."""
    flags[place] = value


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Emit the address of a number of an array."""
    made = context.make_array(kind)(context, builder, array)
    return builder.gep(made.data, [place])


@intrinsic
def _seen(typing_context: Any, flags: Any, place: Any) -> Any:
    """Emit the machine instruction of :func:`seen`."""
    from numba.core import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = _address(context, builder, signature.args[0], arguments[0], place)
        return builder.load_atomic(address, "acquire", 8)

    return types.int64(flags, place), emit


@intrinsic
def _tell(typing_context: Any, flags: Any, place: Any, value: Any) -> Any:
    """Emit the machine instruction of :func:`tell`."""
    from numba.core import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, value = (context.cast(builder, arguments[k], signature.args[k], types.int64) for k in (1, 2))
        address = _address(context, builder, signature.args[0], arguments[0], place)
        builder.store_atomic(value, address, "release", 8)
        return context.get_dummy_value()

    return types.void(flags, place, value), emit


@overload(seen, inline="always", strict=False)
def _compiled_seen(flags: Any, place: Any) -> Any:
    """Return the compiled form of :func:`seen`."""
    return lambda flags, place: _seen(flags, place)


@overload(tell, inline="always", strict=False)
def _compiled_tell(flags: Any, place: Any, value: Any) -> Any:
    """Return the compiled form of :func:`tell`."""
    return lambda flags, place, value: _tell(flags, place, value)


@compiled
def touch_pages(flat: Any, first: int, last: int, step: int, stop: Any) -> None:
    """Write every ``step``-th number from first to last - 1, as long as ``stop[0]`` is 0."""
    for place in range(first, last, step):
        if seen(stop, 0) != 0:
            return
        flat[place] = 0.0


@compiled
def write_chunks(
    slots: Any, worker: int, n_workers: int, n_chunks: int, ready: Any, done: Any, flat: Any
) -> None:
    """Write every ``n_workers``-th chunk of a flat array to its place, once it has arrived.

    Parameters
    ----------
    slots : ndarray, (slots, length)
        Where chunks arrive, chunk c in slot c modulo the number of slots.
    worker, n_workers, n_chunks : int
        This worker writes the chunks worker, worker + n_workers, ...
    ready, done : ndarray of int64, (slots,)
        Number of the last chunk that has arrived in a slot, and of the last one written from it, plus 1; a
        negative number in ``ready`` ends the work.
    flat : ndarray
        Output, of any type.
    """
    n_slots, length = slots.shape
    for chunk in range(worker, n_chunks, n_workers):
        slot = chunk % n_slots
        arrived = seen(ready, slot)
        while arrived <= chunk:
            if arrived < 0:
                return
            arrived = seen(ready, slot)
        source, target = slots[slot], flat[chunk * length : (chunk + 1) * length]
        for k in range(len(target)):
            target[k] = source[k]
        tell(done, slot, chunk + 1)
