"""Two processes exchange histories over a socket, each wait with a deadline of the caller's.

    python examples/ipc.py

The first process is an agent, the second stands for a model. It answers one question; at the next
it sends byte after byte of a frame that never ends, as a peer that is broken or hostile might.
"""

import socket
import subprocess
import sys
import time

import molo
from molo import framing, msgpack


class Deadline:
    """A socket on which everything must be done within so many seconds from now.

    The timeout of a socket itself starts anew with every byte that a peer trickles in.
    """

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self.connection = connection
        self.end = time.monotonic() + seconds

    def recv(self, size: int) -> bytes:
        """Wait for bytes, but not beyond the deadline."""
        self._set_timeout()
        return self.connection.recv(size)

    def send(self, data: memoryview) -> int:
        """Wait for room, but not beyond the deadline."""
        self._set_timeout()
        return self.connection.send(data)

    def _set_timeout(self) -> None:
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        self.connection.settimeout(left)


def agent() -> None:
    """Start the model and talk to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        port = listener.getsockname()[1]
        with subprocess.Popen([sys.executable, __file__, str(port)]):
            connection, _ = listener.accept()
            with connection:
                converse(connection)


def converse(connection: socket.socket) -> None:
    """Ask twice: histories go out, messages come back."""
    decoder = framing.FrameDecoder()
    history: list[molo.Message] = [molo.user("How is the weather in Beijing?")]
    print("agent asks:", history[-1])
    framing.send(Deadline(connection, 30), history, msgpack.encode)
    answer = framing.receive(Deadline(connection, 30), decoder, msgpack.decode_message)
    if answer is None:
        print("the model has hung up")
        return
    print("model says:", answer)

    history += [answer, molo.user("And tomorrow?")]
    print("agent asks:", history[-1])
    framing.send(Deadline(connection, 30), history, msgpack.encode)
    try:
        framing.receive(Deadline(connection, 1), decoder, msgpack.decode_message)
    except TimeoutError:
        print(f"no answer in 1 second, {decoder.wanted} more bytes wanted: the agent hangs up")


def model(port: int) -> None:
    """Answer the first question, then go mad."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        decoder = framing.FrameDecoder()
        while history := framing.receive(connection, decoder, msgpack.decode):
            if len(history) == 1:
                answer = molo.assistant("Sunny, 23 degrees.")
                framing.send(connection, answer, msgpack.encode_message)
            else:
                trickle(connection, framing.encode_frame(bytes(1000)))


def trickle(connection: socket.socket, data: bytes) -> None:
    """Send byte after byte, until the other side has hung up."""
    try:
        for place in range(len(data)):
            connection.sendall(data[place : place + 1])
            time.sleep(0.1)
    except ConnectionError:
        sys.exit()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        model(int(sys.argv[1]))
    else:
        agent()
