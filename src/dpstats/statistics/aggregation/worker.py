"""A worker process: runs an analyst's functions on pieces of rows, each piece in a child process of its own.

It is run as a program, by its path, and imports nothing of dpstats: it starts in a twentieth of a second and is the same whatever
the process that started it holds. It reads requests from a pipe and writes one reply to each to another.

Why        The worker loads the functions once and never calls them, nor does it ever hold a row, a reply or the length of one.
           For every piece it forks a monitor, and the monitor a child, which reads the piece from the pipe, calls the function,
           and ends. The monitor hears the child, passes the reply on, and ends too; of all that, the worker learns that a reply
           is out, and goes on, or that there is none, and ends itself. So every call starts from the same state, down to memory
           that nobody has cleared: what a function counts, caches, returns or leaves behind, a later call does not find. What it
           makes of a piece is sent back in plain JSON; nothing that it wrote is unpickled
Limits     No sandbox: a function that writes to a file and reads it in another call, that leaves a process of another group
           behind, or that looks at the clock or at process numbers can carry something from one piece to another. Where there is
           no fork (Windows), the worker calls the functions itself, so that their state lives on until the worker is replaced,
           after a piece that got no answer: there, the claim asks for functions that keep no state
"""

from __future__ import annotations

import ctypes
import dis
import gc
import importlib
import json
import os
import pickle
import random
import select
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from types import CodeType
from typing import Any

FORKS = hasattr(os, "fork")
"""Whether every piece gets a process of its own."""
LONGEST = 1 << 20
"""Bytes of the longest reply that is listened to; also elements of the longest array."""
REQUEST = struct.Struct(">IQ")
"""The number of a function, and the bytes of the pickled arguments that follow."""
REPLY = struct.Struct(">q")
"""The bytes of the reply that follows."""
NO_ANSWER = -1
READY, UNLOADABLE = b"r", b"u"
_HAS_READ = b"+"
_HAS_REPLIED = b"!"
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_TICK = 0.05  # seconds between two looks at whether a child lives whose own children keep its pipe open
_LISTS = ("tolist", "to_list", "to_pylist", "as_py")


def to_json(raw_value: Any) -> bytes:
    """What a function returned, as JSON; raises where that is neither a number, a text, nor a list or a set of such."""
    said = json.dumps(_plain(raw_value)).encode("ascii")
    if len(said) > LONGEST:
        raise ValueError("too long")
    return said


def _plain(raw_value: Any) -> Any:
    if raw_value is None or isinstance(raw_value, (bool, str)):
        return raw_value
    if isinstance(raw_value, Integral):
        return int(raw_value)
    if isinstance(raw_value, (Real, Decimal)):
        return float(raw_value)
    raw_size = getattr(raw_value, "size", 0)
    if isinstance(raw_size, int) and raw_size > LONGEST:
        raise ValueError("too long")
    if isinstance(raw_value, (list, tuple)):
        return [_plain(element) for element in raw_value]
    if isinstance(raw_value, (set, frozenset)):
        return {"set": [_plain(element) for element in raw_value]}
    for name in _LISTS:
        if hasattr(raw_value, name):
            return _plain(getattr(raw_value, name)())
    raise TypeError("no plain value")


def main() -> None:
    """Load the functions, then answer requests until the pipe is closed."""
    inlet, outlet = _keep_pipes()
    warnings.simplefilter("ignore")
    (length,) = REPLY.unpack(_read(inlet, REPLY.size))
    settings = json.loads(_read(inlet, length))
    (length,) = REPLY.unpack(_read(inlet, REPLY.size))
    try:
        sys.path[:] = settings["path"]
        functions = pickle.loads(_read(inlet, length))
        _warm(functions, settings["modules"])
    except BaseException:
        os.write(outlet, UNLOADABLE)
        return
    _forbid_core_dumps()
    gc.collect()
    gc.freeze()
    os.write(outlet, READY)
    answer = _is_answered if FORKS else _is_answered_here
    while answer(functions, inlet, outlet, settings):
        pass


def _keep_pipes() -> tuple[int, int]:
    """The pipes that requests come from and replies go to, out of reach of print and input."""
    inlet, outlet = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(inlet, os.O_BINARY)
        msvcrt.setmode(outlet, os.O_BINARY)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return inlet, outlet


def _warm(functions: Sequence[Callable[..., Any]], modules: Sequence[str]) -> None:
    """Import once what the children would otherwise import for every piece."""
    named = [name for function in functions for name in _imported_names(getattr(function, "__code__", None))]
    for name in (*modules, *named):
        with suppress(BaseException):
            importlib.import_module(name)


def _imported_names(code: CodeType | None) -> Iterator[str]:
    """The modules that a function's code imports when it runs, and names in them that may be modules."""
    if code is None:
        return
    module = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            module = instruction.argval
            yield module
        elif instruction.opname == "IMPORT_FROM":
            yield f"{module}.{instruction.argval}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imported_names(constant)


def _is_answered(functions: Sequence[Callable[..., Any]], inlet: int, outlet: int, settings: dict[str, Any]) -> bool:
    """Whether a monitor has replied to the next request; it has not where there is none, or where the monitor was ended."""
    select.select([inlet], [], [])
    hearing, saying = os.pipe()
    me = os.getpid()
    _hold_termination(True)
    monitor = os.fork()
    if not monitor:
        os.close(hearing)
        _be_a_monitor(functions, inlet, outlet, saying, settings, me)
    os.close(saying)
    _lead_a_group(monitor)  # both sides do it, so that it is done whoever comes first
    signal.signal(signal.SIGTERM, lambda *_: _end_all(monitor))
    _hold_termination(False)
    news = _read(hearing, len(_HAS_REPLIED))
    _hold_termination(True)
    _end(monitor)
    signal.signal(signal.SIGTERM, _stop)
    _hold_termination(False)
    os.close(hearing)
    return news == _HAS_REPLIED


def _be_a_monitor(
    functions: Sequence[Callable[..., Any]], inlet: int, outlet: int, saying: int, settings: dict[str, Any], worker: int
) -> None:
    """Have a child answer the next request, write the reply, say that it is written, and end, whatever happens."""
    try:
        _lead_a_group(0)
        _end_with(worker)
        signal.signal(signal.SIGTERM, _stop)
        _hold_termination(False)
        place, size = REQUEST.unpack(_read(inlet, REQUEST.size))
        said = _in_a_child(functions[place], size, inlet, (outlet, saying), settings)
        _write(outlet, REPLY.pack(NO_ANSWER) if said is None else REPLY.pack(len(said)) + said)
        _write(saying, _HAS_REPLIED)
    finally:
        os._exit(0)


def _in_a_child(
    function: Callable[..., Any], size: int, inlet: int, mine: tuple[int, ...], settings: dict[str, Any]
) -> bytes | None:
    """What a fresh child process makes of the next `size` bytes in the pipe; None where that is nothing."""
    child, me = 0, os.getpid()
    hearing, saying = os.pipe()
    try:
        child = os.fork()
        if not child:
            for pipe in (hearing, *mine):
                os.close(pipe)
            _be_a_child(function, size, inlet, saying, settings["memory"], me)
        os.close(saying)
        return _heard(child, hearing, inlet, settings["seconds"])
    finally:
        os.close(hearing)
        if child:
            _end(child)


def _be_a_child(function: Callable[..., Any], size: int, inlet: int, saying: int, memory: int, monitor: int) -> None:
    """Read the arguments, call the function, say what it returned, and end, whatever happens."""
    try:
        _end_with(monitor)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raw_pickled = _read(inlet, size)
        if len(raw_pickled) < size:
            return
        os.close(inlet)
        _write(saying, _HAS_READ)
        _limit_memory(memory)
        _reseed()
        said = to_json(function(*pickle.loads(raw_pickled)))
        _write(saying, REPLY.pack(len(said)) + said)
    finally:
        os._exit(0)


def _is_answered_here(functions: Sequence[Callable[..., Any]], inlet: int, outlet: int, settings: dict[str, Any]) -> bool:
    """Reply to the next request, if there is one, where there are no children; who waits too long ends us."""
    head = _read(inlet, REQUEST.size)
    if not head:
        return False
    place, size = REQUEST.unpack(head)
    raw_pickled = _read(inlet, size)
    _reseed()
    try:
        said = to_json(functions[place](*pickle.loads(raw_pickled)))
        _write(outlet, REPLY.pack(len(said)) + said)
    except BaseException:
        _write(outlet, REPLY.pack(NO_ANSWER))
    return True


def _heard(child: int, hearing: int, inlet: int, seconds: float) -> bytes | None:
    """What a child says before its time is over; its time starts when it has read its arguments."""
    said, ends = bytearray(), None
    while (reply := _reply_in(said)) is None and len(said) <= len(_HAS_READ) + REPLY.size + LONGEST:
        left = _TICK if ends is None else min(_TICK, ends - time.monotonic())
        if left < 0:
            break
        is_dead = _is_dead(child)
        ready, _, _ = select.select([hearing] if ends is None else [hearing, inlet], [], [], 0 if is_dead else left)
        if inlet in ready:
            raise SystemExit  # no request comes before the reply: whoever started us is gone
        if hearing not in ready:
            if is_dead:
                break
            continue
        piece = os.read(hearing, 1 << 16)
        if not piece:
            break
        said += piece
        ends = ends or time.monotonic() + seconds
    if ends is None:
        raise SystemExit  # the rest of its arguments lies in the pipe
    return reply


def _reply_in(said: bytearray) -> bytes | None:
    """The reply, if all of it is there."""
    start = len(_HAS_READ) + REPLY.size
    if len(said) < start:
        return None
    (length,) = REPLY.unpack_from(said, len(_HAS_READ))
    return bytes(said[start : start + length]) if 0 <= length <= min(LONGEST, len(said) - start) else None


def _is_dead(child: int) -> bool:
    """Whether a child has ended, without laying it to rest: until then its number is nobody else's."""
    return hasattr(os, "waitid") and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: int) -> None:
    """End a process of ours, and all of its group if it leads one."""
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(process, 0)


def _end_all(monitor: int) -> None:
    """End a monitor, what it watches, and this process."""
    _end(monitor)
    os._exit(0)


def _lead_a_group(process: int) -> None:
    """Make a process, 0 for this one, the first of a group: what it forks belongs to the group, and can be ended with it."""
    with suppress(OSError):
        os.setpgid(process, process)


def _hold_termination(is_held: bool) -> None:
    """Let a request to terminate wait, or no more: none must come between a fork and the note of whom to end."""
    signal.pthread_sigmask(signal.SIG_BLOCK if is_held else signal.SIG_UNBLOCK, [signal.SIGTERM])


def _end_with(parent: int) -> None:
    """End this process when the one that forked it is gone, where the system offers that (Linux)."""
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _reseed() -> None:
    """Give the global random generators a state of their own."""
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


def _limit_memory(memory: int) -> None:
    """Limit this process to `memory` bytes where the system can, and make it the first to be killed where memory runs out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    with suppress(ImportError, OSError, ValueError):
        import resource

        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _forbid_core_dumps() -> None:
    """A process that crashes leaves no file with rows behind."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(source: int, size: int) -> bytes:
    """Read `size` bytes from a pipe; fewer where it ends."""
    pieces: list[bytes] = []
    while size and (piece := os.read(source, min(size, 1 << 20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _write(sink: int, message: bytes) -> None:
    left = memoryview(message)
    while left:
        left = left[os.write(sink, left) :]


def _stop(*_: object) -> None:
    raise SystemExit


if __name__ == "__main__":
    try:
        signal.signal(signal.SIGTERM, _stop)
        main()
    finally:
        os._exit(0)
