"""The program of a helper process: jq, or another engine, and nothing else.

The guard starts this file as a script, so it imports only the engine and the standard library. It answers one request
after another from standard input until that is closed, and never opens a file: after its imports it may not.

A request is two lengths and two texts: the program, and its input (with the length NO_INPUT: compile only).
An answer is a status, the processor time in seconds, a length and a text; an empty answer means that the process is
ready, and a flag in the status that it is the last one. During a request its processor time is limited by a timer whose
signal ends the process, so that not even a lost parent leaves a busy helper behind.
"""

import contextlib
import os
import resource
import runpy
import signal
import struct
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, Protocol

REQUEST = struct.Struct(">II")
ANSWER = struct.Struct(">BfI")
NO_INPUT = 0xFFFFFFFF

OUTPUTS = 0
NOT_COMPILED = 1
FAILED = 2
TOO_LARGE = 3
OUT_OF_MEMORY = 4

LAST = 0x80
"""Added to the status of the last answer: the process holds much memory by now, and is to be replaced."""

_MUCH_MEMORY = 256 << 20
"""The memory, in bytes, from which a process ends after its answer: it keeps programs and remains of evaluations."""

_MAX_PROGRAMS = 4096


class _Program(Protocol):
    def input_text(self, text: str) -> "list[str]": ...


class _Engine(NamedTuple):
    compiled: "Callable[[str], _Program]"
    """Raises ValueError for a program that does not compile; running one raises it for a program that fails."""
    warming: tuple[str, str]
    """A program and its input, with which to warm up."""


class _Interpreter:
    """Compiles programs, each text once, and runs them."""

    def __init__(self, compiled: "Callable[[str], _Program]", largest_output: int) -> None:
        self._compile = compiled
        self._programs: OrderedDict[str, _Program] = OrderedDict()
        self._largest_output = largest_output

    def answer(self, program: str, data: str | None) -> tuple[int, str]:
        """Return the status and the text to answer with; outputs are JSON texts, one a line."""
        try:
            compiled = self._compiled(program)
        except ValueError as error:
            return NOT_COMPILED, str(error)
        if data is None:
            return OUTPUTS, ""
        lines: list[str] = []
        size = 0
        try:
            for line in compiled.input_text(data):
                size += len(line)
                if size > self._largest_output:
                    return TOO_LARGE, ""
                lines.append(line)
        except ValueError as error:
            return FAILED, str(error)
        return OUTPUTS, "\n".join(lines)

    def _compiled(self, program: str) -> _Program:
        found = self._programs.get(program)
        if found is None:
            found = self._programs[program] = self._compile(program)
            if len(self._programs) > _MAX_PROGRAMS:
                self._programs.popitem(last=False)
        else:
            self._programs.move_to_end(program)
        return found


def serve(engine: "_Engine", seconds: float, memory: int, largest_output: int) -> None:
    """Answer requests until standard input ends."""
    interpreter = _Interpreter(engine.compiled, largest_output)
    interpreter.answer(*engine.warming)  # whatever it loads at first use is loaded before files are forbidden
    held = _memory_gauge()
    _restrict(memory)
    _write(ANSWER.pack(OUTPUTS, 0.0, 0))
    while header := _read(REQUEST.size):
        program_size, data_size = REQUEST.unpack(header)
        program = _read(program_size).decode()
        data = None if data_size == NO_INPUT else _read(data_size).decode()
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            status, text = interpreter.answer(program, data)
            body = text.encode()
        except MemoryError:
            status, body = OUT_OF_MEMORY, b""
        signal.setitimer(signal.ITIMER_PROF, 0)
        if held() > _MUCH_MEMORY:
            status |= LAST
        _write(ANSWER.pack(status, time.process_time() - began, len(body)) + body)


def _memory_gauge() -> Callable[[], int]:
    """Return a function for the number of bytes that this process holds.

    On Linux, the peak memory of a process includes that of its parent when it was started, so that every helper of a
    large worker would seem large. Its present memory is used instead, from a file that is opened before files are
    forbidden.
    """
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return _largest_memory
    page = os.sysconf("SC_PAGE_SIZE")
    return lambda: int(os.pread(file, 128, 0).split()[1]) * page


def _largest_memory() -> int:
    """Return the peak memory of this process in bytes."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest << 10


def _engine(file: str | None) -> "_Engine":
    """Return jq, or the engine that the Python file at that path drives."""
    if file is not None:
        names = runpy.run_path(file)
        return _Engine(names["compiled"], names["WARMING"])
    import jq  # noqa: PLC0415 - the parent shares this module's constants and must not load jq

    return _Engine(jq.compile, ("tojson", "null"))


def _restrict(memory: int) -> None:
    # These signals are for the parent, which may want to finish its work; its end closes standard input.
    for request_to_end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(request_to_end, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, 0)):
        with contextlib.suppress(ValueError, OSError):  # macOS knows some of these limits only by name
            resource.setrlimit(kind, (limit, limit))


def _read(size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            sys.exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    sys.path += sys.argv[1].split(os.pathsep)
    engine = _engine(sys.argv[5] if len(sys.argv) > 5 else None)  # noqa: PLR2004 - the fifth argument
    serve(engine, float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
