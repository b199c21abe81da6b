"""The program of worker processes: runs an analyst's functions on pieces of rows, each piece in a child process of its own.

It is run by its path and imports nothing of dpstats: it starts in a twentieth of a second and is the same whatever the process
that started it holds. That process is called the caller here.

Why        The first process, the loader, loads the functions once and never calls them. It forks workers, which stay; for every
           piece a worker forks a child, which reads the piece, calls the function, replies, and ends. A child talks to the caller
           by a socket of its own, which passes through the worker unread: neither worker nor loader ever holds a row, a reply, or
           the length or the fate of one. All that a worker learns is when a child has ended. So every call starts from the same
           state, down to memory that nobody has cleared: what a function counts, caches, returns or leaves behind, a later call
           does not find. What it makes of a piece is sent back in plain JSON; nothing that it wrote is unpickled
Limits     No sandbox: a function that writes to a file and reads it in another call, that leaves a process of another group
           behind, or that looks at the clock or at process numbers can carry something from one piece to another. Where there is
           no fork (Windows), the first process calls the functions itself, so that their state lives on until it is replaced,
           after a piece that got no answer: there, the claim asks for functions that keep no state
"""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import json
import os
import pickle
import select
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from types import CodeType, ModuleType
from typing import Any, NoReturn

FORKS = hasattr(os, "fork") and hasattr(socket, "recv_fds")
"""Whether every piece gets a process of its own."""
LONGEST = 1 << 20
"""Bytes of the longest reply that is listened to; also elements of the longest array."""
REQUEST = struct.Struct(">IQ")
"""The number of a function, and the bytes of the pickled arguments that follow."""
REPLY = struct.Struct(">q")
"""The bytes of the reply that follows; in the first message of a forked worker, its process number."""
NO_ANSWER = -1
READY, UNLOADABLE = b"r", b"u"
HAS_READ = b"+"
"""Says that a child has all of its arguments, and calls the function now."""
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_KILL = 9  # SIGKILL
_LIBC = ctypes.CDLL(None, use_errno=True) if FORKS else None
_CONTROL_PROCESS = getattr(_LIBC, "prctl", None)  # looked up once, not in every child
_EXAMPLE = [1, 1.5, "", True, None, Decimal(1)]
_LISTS = ("tolist", "to_list", "to_pylist", "as_py")


def to_json(raw_value: Any) -> bytes:
    """What a function returned, as JSON; raises where that is neither a number, a text, nor a list or a set of such."""
    said = json.dumps(_plain(raw_value)).encode("ascii")
    if len(said) > LONGEST:
        raise ValueError("too long")
    return said


def _plain(raw_value: Any) -> Any:
    if raw_value is None or type(raw_value) in (float, int) or isinstance(raw_value, (bool, str)):
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
    """Load the functions, then answer requests until there are no more."""
    inlet, outlet = _keep_pipes()
    gc.disable()  # imports leave no garbage
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
    to_json(_EXAMPLE)  # so that children find in memory what it needs
    gc.collect()
    gc.freeze()
    gc.enable()
    os.write(outlet, READY)
    if settings["forks"]:
        os.close(outlet)
        _be_a_loader(functions, socket.socket(fileno=inlet), settings["memory"])
    while _is_answered_here(functions, inlet, outlet):
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
    codes = {code: function for function in functions for code in _codes_in(getattr(function, "__code__", None))}
    for name in (*modules, *(name for code in codes for name in _imported_names(code))):
        with suppress(BaseException):
            importlib.import_module(name)
    for code, function in codes.items():  # modules load parts of themselves when they are first named, as numpy does its random
        used = [each for name in code.co_names if isinstance(each := function.__globals__.get(name), ModuleType)]
        for module, name in ((module, name) for module in used for name in code.co_names):
            with suppress(BaseException):
                getattr(module, name)


def _codes_in(code: CodeType | None) -> Iterator[CodeType]:
    """The code of a function, and of those that are defined in it."""
    if code is not None:
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from _codes_in(constant)


def _imported_names(code: CodeType) -> Iterator[str]:
    """The modules that code imports when it runs, and names in them that may be modules."""
    import dis

    module = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            module = instruction.argval
            yield module
        elif instruction.opname == "IMPORT_FROM":
            yield f"{module}.{instruction.argval}"


def _be_a_loader(functions: Sequence[Callable[..., Any]], control: socket.socket, memory: int) -> NoReturn:
    """Fork a worker for every socket that arrives, and wait for all of them in the end; they do not need the loader."""
    while (link := _next_socket(control)) is not None:
        _lay_to_rest(-1, os.WNOHANG)
        if not os.fork():
            control.close()
            _be_a_worker(functions, link, memory)
        link.close()
    _lay_to_rest(-1, 0)
    os._exit(0)


def _be_a_worker(functions: Sequence[Callable[..., Any]], control: socket.socket, memory: int) -> NoReturn:
    """Fork a child for every socket that arrives, and end it when the next one arrives, or when no more can."""
    child, link = 0, None
    try:
        _limit_memory(memory)
        control.sendall(REPLY.pack(os.getpid()))
        news, teller = os.pipe()
        for pipe in (news, teller):
            os.set_blocking(pipe, False)
        signal.signal(signal.SIGCHLD, _ignored)
        signal.set_wakeup_fd(teller, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([control.fileno(), news], [], [])
            if control.fileno() not in ready:  # the child has ended; what it left behind may hold its socket, but says no more
                _drain(news)
                _hang_up(link)
                continue
            _end(child)
            child = 0
            _hang_up(link)
            _drain(news)  # of that child; it has ended, so that nothing more comes of it
            link = _next_socket(control)
            if link is None:
                break
            worker = os.getpid()
            child = os.fork()
            if not child:
                for pipe in (control.detach(), news, teller):
                    os.close(pipe)
                _be_a_child(functions, link.detach(), worker)
            _lead_a_group(child)  # both sides do it, so that it is done whoever comes first
    finally:
        _end(child)
        os._exit(0)


def _be_a_child(functions: Sequence[Callable[..., Any]], link: int, worker: int) -> NoReturn:
    """Read the arguments, call the function, say what it returned, and end, whatever happens."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _lead_a_group(0)
        _end_with(worker)
        place, size = REQUEST.unpack(_read(link, REQUEST.size))
        raw_pickled = _read(link, size)
        if len(raw_pickled) == size:
            _write(link, HAS_READ)
            _reseed()
            said = to_json(functions[place](*pickle.loads(raw_pickled)))
            _write(link, REPLY.pack(len(said)) + said)
    finally:
        os._exit(0)


def _is_answered_here(functions: Sequence[Callable[..., Any]], inlet: int, outlet: int) -> bool:
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


def _next_socket(control: socket.socket) -> socket.socket | None:
    """The socket that the caller sends next; None where it has no more."""
    _, handles, _, _ = socket.recv_fds(control, 1, 1)
    if not handles:
        return None
    os.set_inheritable(handles[0], False)
    return socket.socket(fileno=handles[0])


def _hang_up(link: socket.socket | None) -> None:
    """End what can be said by a socket, by whoever still holds it."""
    if link is not None:
        with suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)


def _drain(pipe: int) -> None:
    """Forget what lies in a pipe."""
    with suppress(BlockingIOError):
        while os.read(pipe, 1 << 12):
            pass


def _end(child: int) -> None:
    """End a child, if there is one, and all of its group, without a look at how it ended."""
    if child:
        for kill in (os.killpg, os.kill):
            with suppress(OSError):
                kill(child, signal.SIGKILL)
        _lay_to_rest(child, 0)


def _lay_to_rest(child: int, options: int) -> None:
    """Wait for a child, -1 for all of them, and let go of its number; os.waitpid would tell how it ended."""
    assert _LIBC is not None
    while (gone := _LIBC.waitpid(child, None, options)) > 0 or (gone < 0 and ctypes.get_errno() == errno.EINTR):
        pass


def _lead_a_group(process: int) -> None:
    """Make a process, 0 for this one, the first of a group: what it forks belongs to the group, and can be ended with it."""
    with suppress(OSError):
        os.setpgid(process, process)


def _end_with(parent: int) -> None:
    """End this process when the one that forked it is gone, where the system offers that (Linux)."""
    if sys.platform == "linux" and _CONTROL_PROCESS is not None:
        _CONTROL_PROCESS(_DEATH_SIGNAL, _KILL)
    if os.getppid() != parent:
        os._exit(0)


def _reseed() -> None:
    """Give the global random generators a state of their own."""
    for module in ("random", "numpy.random"):
        if module in sys.modules:
            sys.modules[module].seed()


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


def _ignored(*_: object) -> None:
    """Do nothing about a signal, whose number goes into a pipe."""


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
