"""The other process of test_framing.py: `python framing_peer.py PLACE JOB`.

PLACE is `stdio`, `tcp:PORT` on loopback or `unix:PATH`; JOB is a row of `JOBS`. Only `answer` and
the two that measure stand on molo.framing; the others write frames with `struct` alone.
"""

import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

from molo import FrameError, assistant, framing, msgpack

SPARE = 64 * 2**20  # bytes of address space beyond what is in use


def answer(source: BinaryIO, sink: BinaryIO) -> None:
    """Send every history back with one message more."""
    decoder = framing.FrameDecoder()
    while (history := framing.receive(source, decoder, msgpack.decode)) is not None:
        framing.send(sink, [*history, assistant("seen")], msgpack.encode)


def echo(source: BinaryIO, sink: BinaryIO) -> None:
    """Send every payload back."""
    while header := source.read(4):
        (size,) = struct.unpack(">I", header)
        sink.write(struct.pack(">I", size) + source.read(size))
        sink.flush()


def echo_bytes(source: BinaryIO, sink: BinaryIO) -> None:
    """Send everything back, frame or not, each byte in a write of its own."""
    while byte := source.read(1):
        sink.write(byte)
        sink.flush()


def die_within(source: BinaryIO, sink: BinaryIO) -> None:
    """Declare 100 bytes, send 3, and be killed."""
    sink.write(struct.pack(">I", 100) + b"abc")
    sink.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def send_garbage(source: BinaryIO, sink: BinaryIO) -> None:
    """Speak another protocol, and hang up."""
    sink.write(b"GET / HTTP/1.1\r\n\r\n")
    sink.flush()


def send_halves(source: BinaryIO, sink: BinaryIO) -> None:
    """Send half a frame, and the rest when a signal comes."""
    frame = struct.pack(">I", 20) + bytes(20)
    sink.write(frame[:14])
    sink.flush()
    signal.sigwait({signal.SIGUSR1})
    sink.write(frame[14:])
    sink.flush()


def read_late(source: BinaryIO, sink: BinaryIO) -> None:
    """Read nothing until a signal comes; then count the bytes to the end and say so."""
    signal.sigwait({signal.SIGUSR1})
    total = 0
    while data := source.read(2**16):
        total += len(data)
    sink.write(struct.pack(">I", 8) + struct.pack(">Q", total))
    sink.flush()


def measure_file(source: BinaryIO, sink: BinaryIO) -> None:
    """Receive one frame from a file with little memory; say what came of it and what it took."""
    measure(source, sink)


def measure_socket(source: BinaryIO, sink: BinaryIO) -> None:
    """Receive one frame from the socket at descriptor 0, likewise."""
    with socket.socket(fileno=os.dup(0)) as connection:
        measure(connection, sink)


def measure(source: BinaryIO | socket.socket, sink: BinaryIO) -> None:
    used = memory("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE, used + SPARE))
    before, outcome = memory("VmHWM"), "a payload"
    try:
        framing.receive(source, framing.FrameDecoder(max_frame=2**32 - 1), bytes)
    except FrameError as error:
        outcome = str(error)
    sink.write(f"{memory('VmHWM') - before}\n{outcome}\n".encode())
    sink.flush()


def memory(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


Job = Callable[[BinaryIO, BinaryIO], None]
JOBS: dict[str, Job] = {
    job.__name__: job
    for job in (
        answer,
        echo,
        echo_bytes,
        die_within,
        send_garbage,
        send_halves,
        read_late,
        measure_file,
        measure_socket,
    )
}


def run_at(place: str, job: Job) -> None:
    kind, _, address = place.partition(":")
    if kind == "stdio":
        job(sys.stdin.buffer, sys.stdout.buffer)
        return
    family = {"tcp": socket.AF_INET, "unix": socket.AF_UNIX}[kind]
    with socket.socket(family) as connection:
        connection.connect(("127.0.0.1", int(address)) if kind == "tcp" else address)
        with connection.makefile("rb") as source, connection.makefile("wb") as sink:
            job(source, sink)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    run_at(sys.argv[1], JOBS[sys.argv[2]])
