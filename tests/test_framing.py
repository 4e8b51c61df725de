"""Frames: the sans-IO decoder against `struct`, and the ends against other real processes."""

import asyncio
import io
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import molo
from molo import DecodeError, EncodeError, FrameError, Message, framing, msgpack
from molo.dialects import rust_molo
from molo.framing import (
    MAX_FRAME,
    FrameDecoder,
    encode_frame,
    receive,
    receive_async,
    send,
    send_async,
)

ROOT = Path(__file__).parent.parent
PEER = ROOT / "tests" / "programs" / "framing_peer.py"
PATIENCE = 30  # seconds; only ever waited for when a test fails

HISTORY: list[Message] = [
    molo.system("Be brief."),
    molo.user_blocks([molo.Text("What is this?"), molo.Image(data=bytes(99), mime_type="a/b")]),
    molo.Assistant("", reasoning="", tool_calls=(molo.ToolCall("1", "look", "{}"),)),
    molo.tool_result("1", "Sunny, 23°C"),
]
LONG: list[Message] = [molo.user("x" * 3_000_000)]  # more than any pipe or socket buffers
ANSWER = molo.assistant("seen")


def framed(*payloads: bytes) -> bytes:
    """Frame by the definition of the format, independently of molo."""
    return b"".join(struct.pack(">I", len(payload)) + payload for payload in payloads)


def taken(decoder: FrameDecoder) -> list[bytes]:
    return list(iter(decoder.take, None))


# --- The decoder ----------------------------------------------------------------------------------


@given(st.binary(min_size=1))
def test_a_frame_is_the_length_in_four_bytes_and_the_payload(payload: bytes) -> None:
    assert encode_frame(payload) == framed(payload)


@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, lambda data: memoryview(data).cast("I")]
)
def test_any_buffer_is_framed_and_fed_by_its_bytes(kind: Callable[[bytes], bytes]) -> None:
    decoder = FrameDecoder()
    decoder.feed(kind(framed(b"12345678")))
    assert encode_frame(kind(b"12345678")) == framed(b"12345678")
    assert decoder.take() == b"12345678"


@given(st.lists(st.binary(min_size=1, max_size=99)), st.lists(st.integers(0, 500)))
def test_any_payloads_through_any_cut_come_out_the_same(
    payloads: list[bytes], places: list[int]
) -> None:
    stream, decoder, out = framed(*payloads), FrameDecoder(), list[bytes]()
    cuts = [0, *sorted(places), len(stream)]
    for start, stop in pairwise(cuts):
        decoder.feed(stream[start:stop])
        out += taken(decoder)
    decoder.finish()
    assert out + taken(decoder) == payloads


PAYLOADS = [b"a", b"bc" * 40, b"\x00", b"d" * 300]
BOUNDARIES = [sum(len(framed(payload)) for payload in PAYLOADS[:count]) for count in range(5)]
STREAM = framed(*PAYLOADS)


@pytest.mark.parametrize("step", [1, 2, 3, 5, len(STREAM)])
def test_pieces_of_any_size_give_every_frame_as_soon_as_it_is_whole(step: int) -> None:
    decoder, out = FrameDecoder(), list[bytes]()
    for fed in range(step, len(STREAM) + step, step):
        decoder.feed(STREAM[fed - step : fed])
        out += taken(decoder)
        assert out == [p for p, end in zip(PAYLOADS, BOUNDARIES[1:], strict=True) if end <= fed]


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_a_stream_cut_at_any_byte_gives_its_whole_frames_then_says_what_was_torn(cut: int) -> None:
    decoder = FrameDecoder()
    decoder.feed(STREAM[:cut])
    decoder.finish()
    whole = sum(end <= cut for end in BOUNDARIES[1:])
    had = cut - BOUNDARIES[whole]
    assert [decoder.take() for _ in range(whole)] == PAYLOADS[:whole]
    assert outcome(decoder.take) == torn(had, (*PAYLOADS, b"")[whole], BOUNDARIES[whole])


def torn(had: int, payload: bytes, start: int) -> str:
    """Say what is wrong when `had` bytes of a frame have come, by the rule in the docstring."""
    header = f"Expected 4 bytes of header, got {had} and the end of the stream"
    body = f"Expected {len(payload)} bytes of payload, got {had - 4} and the end of the stream"
    rule = {0: "None"} | dict.fromkeys(range(1, 4), f"{header} - at byte {start}")
    return rule.get(had, f"{body} - at byte {start}")


def outcome(act: Callable[[], object]) -> str:
    try:
        return repr(act())
    except FrameError as error:
        assert error.__cause__ is error.__context__ is None
        return str(error)


def test_a_decoder_says_how_many_bytes_it_lacks() -> None:
    decoder, lacks = FrameDecoder(), list[int]()
    for byte in framed(b"abc"):
        lacks.append(decoder.wanted)
        decoder.feed(bytes([byte]))
        decoder.take()
    assert lacks == [4, 3, 2, 1, 3, 2, 1]


BAD_STREAMS = {
    "an empty frame": (framed(b""), "1 to 9 bytes, got a header that declares 0"),
    "one byte too many": (framed(b"x" * 10), "1 to 9 bytes, got a header that declares 10"),
    "the largest length": (b"\xff" * 4, "1 to 9 bytes, got a header that declares 4294967295"),
    "text": (b"HTTP/1.1", "1 to 9 bytes, got a header that declares 1213486160"),
}


@pytest.mark.parametrize(("stream", "text"), BAD_STREAMS.values(), ids=BAD_STREAMS)
def test_a_bad_frame_ends_the_stream_after_the_whole_ones_in_front(
    stream: bytes, text: str
) -> None:
    decoder = FrameDecoder(max_frame=9)
    decoder.feed(framed(b"one", b"x" * 9) + stream + framed(b"behind"))
    assert [decoder.take(), decoder.take()] == [b"one", b"x" * 9]
    said = f"Expected a payload of {text} - at byte 20"
    assert [outcome(decoder.take), outcome(decoder.take)] == [said, said]
    assert outcome(lambda: decoder.feed(framed(b"more"))) == said
    decoder.finish()
    assert outcome(decoder.take) == said


def test_the_limit_is_on_the_payload_and_8_mib_by_default() -> None:
    largest = bytes(MAX_FRAME)
    decoder = FrameDecoder()
    decoder.feed(encode_frame(largest))
    assert MAX_FRAME == 8_388_608
    assert decoder.take() == largest


@pytest.mark.parametrize(
    ("size", "limit"), [(MAX_FRAME + 1, MAX_FRAME), (0, MAX_FRAME), (10, 9), (2, 1), (0, 1)]
)
def test_a_payload_that_no_decoder_would_take_is_not_framed(size: int, limit: int) -> None:
    said = f"Expected a payload of 1 to {limit} bytes, got {size}"
    assert outcome(lambda: encode_frame(bytes(size), limit)) == said


@pytest.mark.parametrize("limit", [0, -1, 2**32])
@pytest.mark.parametrize("make", [FrameDecoder, lambda limit: encode_frame(b"", limit)])
def test_a_limit_that_no_header_can_say_is_wrong_use(
    make: Callable[[int], object], limit: int
) -> None:
    with pytest.raises(ValueError, match="max_frame must be 1 to 4294967295 bytes") as caught:
        make(limit)
    assert caught.type is ValueError


@pytest.mark.parametrize("data", [5, "text", None, [1, 2]])
@pytest.mark.parametrize("act", [encode_frame, FrameDecoder().feed])
def test_what_is_no_bytes_is_wrong_use(act: Callable[[object], object], data: object) -> None:
    with pytest.raises(TypeError):
        act(data)


def test_an_end_is_final_and_the_first_word_on_it_stands() -> None:
    decoder = FrameDecoder()
    decoder.finish(ConnectionResetError())
    decoder.finish()
    with pytest.raises(ValueError, match="after the end of the stream"):
        decoder.feed(b"more")
    assert decoder.ended
    assert outcome(decoder.take) == (
        "Expected 4 bytes of header, got 0 and ConnectionResetError - at byte 0"
    )


@given(st.binary())
def test_any_bytes_give_frames_or_a_frame_error(data: bytes) -> None:
    decoder = FrameDecoder(max_frame=64)
    decoder.feed(data)
    decoder.finish()
    out = list[bytes]()
    try:
        out += iter(decoder.take, None)
    except FrameError as error:
        rest = data[error.offset :]
    else:
        rest = b""
    assert framed(*out) + rest == data


# --- Ends: files and sockets ----------------------------------------------------------------------

CODECS = {
    "history": (HISTORY, msgpack.encode, msgpack.decode),
    "empty history": ([], msgpack.encode, msgpack.decode),
    "message": (HISTORY[2], msgpack.encode_message, msgpack.decode_message),
    "Rust history": (HISTORY[:1], rust_molo.encode_msgpack, rust_molo.decode_msgpack),
    "payload": (b"any", bytes, bytes),
}


@pytest.mark.parametrize(("value", "encode", "decode"), CODECS.values(), ids=CODECS)
def test_a_frame_holds_what_the_named_codec_reads(
    value: object, encode: Callable[[object], bytes], decode: Callable[[bytes], object]
) -> None:
    stream, decoder = io.BytesIO(), FrameDecoder()
    send(stream, value, encode)
    send(stream, value, encode)
    assert stream.getvalue() == framed(encode(value), encode(value))
    stream.seek(0)
    assert [receive(stream, decoder, decode) for _ in range(4)] == [value, value, None, None]


def test_receiving_takes_nothing_that_stands_behind_the_frame() -> None:
    stream = io.BytesIO(framed(b"one") + b"another protocol")
    assert receive(stream, FrameDecoder(), bytes) == b"one"
    assert stream.read() == b"another protocol"


BAD_PAYLOADS = {
    "no MessagePack": b"\xc1",
    "a history where a message was due": msgpack.encode(HISTORY),
    "a message and more": msgpack.encode_message(HISTORY[0]) + b"\x00",
    "half a message": msgpack.encode_message(HISTORY[0])[:-1],
}


@pytest.mark.parametrize("payload", BAD_PAYLOADS.values(), ids=BAD_PAYLOADS)
def test_after_bad_content_the_next_frame_is_received(payload: bytes) -> None:
    stream = io.BytesIO(framed(payload, msgpack.encode_message(ANSWER)))
    decoder = FrameDecoder()
    with pytest.raises(DecodeError):
        receive(stream, decoder, msgpack.decode_message)
    assert receive(stream, decoder, msgpack.decode_message) == ANSWER


def test_what_cannot_be_encoded_or_is_too_large_writes_nothing() -> None:
    stream = io.BytesIO()
    with pytest.raises(EncodeError):
        send(stream, [molo.user("\ud83d")], msgpack.encode)
    with pytest.raises(FrameError, match="1 to 99 bytes, got 3"):
        send(stream, HISTORY, msgpack.encode, max_frame=99)
    assert stream.getvalue() == b""


def test_a_frame_cut_at_any_byte_is_torn_on_a_stream_too() -> None:
    stream = framed(b"payload")
    cuts = [io.BytesIO(stream[:cut]) for cut in range(len(stream))]
    said = [outcome(partial(receive, cut, FrameDecoder(), bytes)) for cut in cuts]
    assert said == [torn(cut, b"payload", 0) for cut in range(len(stream))]


# --- Ends: two processes --------------------------------------------------------------------------


class Peer(NamedTuple):
    """Another process, and the ends of the stream to it."""

    process: subprocess.Popen[bytes]
    source: framing.Socket | framing.Source
    sink: framing.Socket | framing.Sink
    hang_up: Callable[[], object]  # says that nothing more will be sent


@contextmanager
def running(
    place: str,
    job: str,
    stdin: int | None = None,
    stdout: int | None = None,
    buffering: int = 0,
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, str(PEER), place, job]
    with subprocess.Popen(command, buffering, stdin=stdin, stdout=stdout) as process:
        watch = Timer(PATIENCE, process.kill)  # a pipe has no timeout: this ends it instead
        watch.start()
        try:
            yield process
            assert process.wait(PATIENCE) in {0, -signal.SIGKILL}
        finally:
            watch.cancel()
            process.kill()


@contextmanager
def piped(job: str, buffering: int) -> Iterator[Peer]:
    pipe = subprocess.PIPE
    with running("stdio", job, pipe, pipe, buffering) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Peer(process, process.stdout, process.stdin, process.stdin.close)


@contextmanager
def connected(job: str, listener: socket.socket, place: str) -> Iterator[Peer]:
    with listener:
        listener.settimeout(PATIENCE)
        with running(place, job) as process:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(PATIENCE)
                hang_up = lambda: connection.shutdown(socket.SHUT_WR)  # noqa: E731
                yield Peer(process, connection, connection, hang_up)


def listen_on_tcp(directory: Path) -> tuple[socket.socket, str]:
    listener = socket.create_server(("127.0.0.1", 0))
    return listener, f"tcp:{listener.getsockname()[1]}"


def listen_on_unix(directory: Path) -> tuple[socket.socket, str]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(directory / "peer"))
    listener.listen()
    return listener, f"unix:{directory / 'peer'}"


Reach = Callable[[str, Path], AbstractContextManager[Peer]]
SOCKETS: dict[str, Reach] = {
    "tcp": lambda job, directory: connected(job, *listen_on_tcp(directory)),
    "unix": lambda job, directory: connected(job, *listen_on_unix(directory)),
}
STREAMS: dict[str, Reach] = {
    "pipe": lambda job, _: piped(job, io.DEFAULT_BUFFER_SIZE),
    "unbuffered pipe": lambda job, _: piped(job, 0),
    **SOCKETS,
}
every_socket = pytest.mark.parametrize("reach", SOCKETS.values(), ids=SOCKETS)
every_stream = pytest.mark.parametrize("reach", STREAMS.values(), ids=STREAMS)


@every_stream
def test_two_processes_talk_until_one_hangs_up(reach: Reach, tmp_path: Path) -> None:
    with reach("answer", tmp_path) as peer:
        decoder = FrameDecoder()
        for history in [HISTORY, [], LONG, HISTORY]:
            send(peer.sink, history, msgpack.encode)
            assert receive(peer.source, decoder, msgpack.decode) == [*history, ANSWER]
        peer.hang_up()
        assert receive(peer.source, decoder, msgpack.decode) is None


@every_stream
@pytest.mark.parametrize("job", ["echo", "echo_bytes"])
def test_a_peer_without_molo_reads_and_writes_the_same_frames(
    reach: Reach, job: str, tmp_path: Path
) -> None:
    with reach(job, tmp_path) as peer:
        send(peer.sink, HISTORY, msgpack.encode)
        assert receive(peer.source, FrameDecoder(), msgpack.decode) == HISTORY
        peer.hang_up()


@every_stream
def test_a_peer_killed_within_a_frame_is_a_frame_error(reach: Reach, tmp_path: Path) -> None:
    with reach("die_within", tmp_path) as peer:
        decoder = FrameDecoder()
        said = "Expected 100 bytes of payload, got 3 and the end of the stream - at byte 0"
        assert outcome(lambda: receive(peer.source, decoder, bytes)) == said
        assert outcome(lambda: receive(peer.source, decoder, bytes)) == said


@every_stream
def test_sending_to_a_peer_that_is_gone_is_a_frame_error(reach: Reach, tmp_path: Path) -> None:
    with reach("die_within", tmp_path) as peer, pytest.raises(FrameError) as caught:
        peer.process.wait(PATIENCE)
        for _ in range(1000):
            send(peer.sink, bytes(100_000), bytes)
    assert caught.value.__context__ is None
    assert caught.match(
        r"Expected to send 100004 bytes, got (BrokenPipe|ConnectionReset)Error "
        r"when the stream had taken \d+$"
    )


@every_stream
def test_a_peer_that_sends_garbage_is_a_frame_error(reach: Reach, tmp_path: Path) -> None:
    with reach("send_garbage", tmp_path) as peer:
        said = "Expected a payload of 1 to 8388608 bytes, got a header that declares 1195725856"
        assert outcome(lambda: receive(peer.source, FrameDecoder(), bytes)) == f"{said} - at byte 0"


@every_socket
def test_after_a_timeout_within_a_frame_the_next_call_goes_on(reach: Reach, tmp_path: Path) -> None:
    with reach("send_halves", tmp_path) as peer:
        assert isinstance(peer.source, socket.socket)
        decoder = FrameDecoder()
        peer.source.settimeout(0.2)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                receive(peer.source, decoder, bytes)
        assert decoder.wanted == 10
        peer.source.settimeout(PATIENCE)
        peer.process.send_signal(signal.SIGUSR1)
        assert receive(peer.source, decoder, bytes) == bytes(20)


@contextmanager
def alarms(seconds: float) -> Iterator[list[int]]:
    """Interrupt system calls every so many seconds; the list grows with each signal."""
    seen = list[int]()
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@every_stream
def test_signals_in_the_midst_of_a_frame_change_nothing(reach: Reach, tmp_path: Path) -> None:
    with reach("answer", tmp_path) as peer, alarms(0.005) as seen:
        send(peer.sink, LONG, msgpack.encode)
        assert receive(peer.source, FrameDecoder(), msgpack.decode) == [*LONG, ANSWER]
        assert seen
        peer.hang_up()


# --- Ends that do not block, and ends that break --------------------------------------------------


Pair = tuple[socket.socket, socket.socket]
Ends = tuple[io.FileIO, io.FileIO]


@pytest.fixture
def sockets() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def pipe() -> Iterator[Ends]:
    """The two raw ends of a pipe, neither of which blocks."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    with open(ends[0], "rb", buffering=0) as source, open(ends[1], "wb", buffering=0) as sink:
        yield source, sink


def test_a_socket_that_does_not_block_is_received_from_piece_by_piece(sockets: Pair) -> None:
    ours, theirs = sockets
    ours.setblocking(False)
    decoder = FrameDecoder()
    for piece in (framed(b"payload")[:2], framed(b"payload")[2:7]):
        theirs.sendall(piece)
        with pytest.raises(BlockingIOError):
            receive(ours, decoder, bytes)
    theirs.sendall(framed(b"payload")[7:])
    assert receive(ours, decoder, bytes) == b"payload"


@pytest.mark.parametrize("wrap", [lambda raw: raw, io.BufferedReader], ids=["raw", "buffered"])
def test_a_file_that_does_not_block_is_received_from_piece_by_piece(
    wrap: Callable[[io.FileIO], io.FileIO | io.BufferedReader], pipe: Ends
) -> None:
    decoder, sink = FrameDecoder(), pipe[1]
    with wrap(pipe[0]) as source:
        for piece in (framed(b"payload")[:2], framed(b"payload")[2:7]):
            sink.write(piece)
            with pytest.raises(BlockingIOError):
                receive(source, decoder, bytes)
        sink.write(framed(b"payload")[7:])
        assert receive(source, decoder, bytes) == b"payload"
        sink.close()
        assert receive(source, decoder, bytes) is None


def test_a_full_pipe_that_does_not_block_says_how_much_it_took(pipe: Ends) -> None:
    source, sink = pipe
    with pytest.raises(BlockingIOError) as caught:
        send(sink, bytes(MAX_FRAME), bytes)
    assert (
        source.read(MAX_FRAME) == encode_frame(bytes(MAX_FRAME))[: caught.value.characters_written]
    )


def test_a_sender_gives_up_when_the_time_of_its_socket_is_over(sockets: Pair) -> None:
    ours, _silent = sockets
    ours.settimeout(0.1)
    with pytest.raises(TimeoutError):
        send(ours, bytes(MAX_FRAME), bytes)


def test_a_broken_connection_says_how_much_it_took(sockets: Pair) -> None:
    ours, theirs = sockets
    theirs.close()
    said = "Expected to send 8 bytes, got BrokenPipeError when the stream had taken 0"
    assert outcome(lambda: send(ours, b"four", bytes)) == said


RESETS = {
    b"": "Expected 4 bytes of header, got 0",
    b"\0\0": "Expected 4 bytes of header, got 2",
    b"\0\0\0\3ab": "Expected 3 bytes of payload, got 2",
}


@pytest.mark.parametrize(("sent", "text"), RESETS.items())
def test_a_connection_reset_is_never_a_clean_end(sent: bytes, text: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
    with ours, theirs:
        decoder = FrameDecoder()
        theirs.sendall(sent)
        ours.settimeout(0.2)
        with pytest.raises(TimeoutError):  # all that was sent has been received by then
            receive(ours, decoder, bytes)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        said = f"{text} and ConnectionResetError - at byte 0"
        assert outcome(lambda: receive(ours, decoder, bytes)) == said


@pytest.mark.parametrize("sent", [b"\xff\xff\xff\xff", b"\xff\xff\xff\xff" + bytes(100_000)])
@pytest.mark.parametrize("job", ["measure_file", "measure_socket"])
def test_a_huge_length_takes_no_more_memory_than_what_came(
    job: str, sent: bytes, sockets: Pair
) -> None:
    ours, theirs = sockets
    with running("stdio", job, theirs.fileno(), subprocess.PIPE) as process:
        theirs.close()
        ours.sendall(sent)
        ours.shutdown(socket.SHUT_WR)
        grown, said = process.communicate(timeout=PATIENCE)[0].decode().splitlines()
    assert said == (
        f"Expected 4294967295 bytes of payload, got {len(sent) - 4} and the end of the stream"
        " - at byte 0"
    )
    assert int(grown) < 2**20


# --- Ends: asyncio --------------------------------------------------------------------------------


class AsyncPeer(NamedTuple):
    """Another process, and the asyncio streams to it."""

    process: asyncio.subprocess.Process
    source: asyncio.StreamReader
    sink: asyncio.StreamWriter


@asynccontextmanager
async def meeting(job: str, listener: socket.socket, place: str) -> AsyncIterator[AsyncPeer]:
    met: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
    server = await asyncio.start_server(lambda *ends: met.set_result(ends), sock=listener)
    async with asyncio.timeout(PATIENCE), server:
        process = await asyncio.create_subprocess_exec(sys.executable, str(PEER), place, job)
        source, sink = await met
        yield AsyncPeer(process, source, sink)
        sink.close()
        assert await process.wait() in {0, -signal.SIGKILL}
        with suppress(ConnectionError):  # which the test has seen
            await sink.wait_closed()


Listen = Callable[[Path], tuple[socket.socket, str]]
every_listener = pytest.mark.parametrize("listen", [listen_on_tcp, listen_on_unix])


@every_listener
def test_asyncio_talks_until_one_hangs_up(listen: Listen, tmp_path: Path) -> None:
    async def talk() -> None:
        async with meeting("answer", *listen(tmp_path)) as peer:
            decoder = FrameDecoder()
            for history in [HISTORY, [], LONG, HISTORY]:
                await send_async(peer.sink, history, msgpack.encode)
                answer = await receive_async(peer.source, decoder, msgpack.decode)
                assert answer == [*history, ANSWER]
            peer.sink.write_eof()
            assert await receive_async(peer.source, decoder, msgpack.decode) is None

    asyncio.run(talk())


def test_asyncio_takes_nothing_that_stands_behind_the_frame() -> None:
    async def read_both() -> tuple[bytes | None, bytes]:
        source = asyncio.StreamReader()
        source.feed_data(framed(b"one") + b"another protocol")
        source.feed_eof()
        return await receive_async(source, FrameDecoder(), bytes), await source.read()

    assert asyncio.run(read_both()) == (b"one", b"another protocol")


ASYNC_FAULTS = {
    "die_within": "Expected 100 bytes of payload, got 3 and the end of the stream",
    "send_garbage": "Expected a payload of 1 to 8388608 bytes, "
    "got a header that declares 1195725856",
}


@every_listener
@pytest.mark.parametrize(("job", "text"), ASYNC_FAULTS.items())
def test_asyncio_says_what_is_wrong_with_a_peer(
    listen: Listen, job: str, text: str, tmp_path: Path
) -> None:
    async def listen_to_it() -> None:
        async with meeting(job, *listen(tmp_path)) as peer:
            decoder = FrameDecoder()
            for _ in range(2):
                with pytest.raises(FrameError) as caught:
                    await receive_async(peer.source, decoder, bytes)
                assert str(caught.value) == f"{text} - at byte 0"
                assert caught.value.__context__ is None

    asyncio.run(listen_to_it())


SENT_IN_VAIN = (
    r"^Expected to send 100004 bytes, got (BrokenPipe|ConnectionReset)Error "
    r"when the stream had taken 100004$"  # asyncio takes a frame whole
)


@every_listener
def test_asyncio_says_that_a_receiver_is_gone(listen: Listen, tmp_path: Path) -> None:
    async def flood() -> None:
        async with meeting("die_within", *listen(tmp_path)) as peer:
            await peer.process.wait()
            with pytest.raises(FrameError, match=SENT_IN_VAIN) as caught:
                for _ in range(1000):
                    await send_async(peer.sink, bytes(100_000), bytes)
            assert caught.value.__context__ is None
            with pytest.raises(FrameError, match=r"got 0 and (BrokenPipe|ConnectionReset)Error"):
                await receive_async(peer.source, FrameDecoder(), bytes)

    asyncio.run(flood())


@every_listener
def test_a_cancelled_receive_goes_on_in_the_next_one(listen: Listen, tmp_path: Path) -> None:
    async def wait_in_vain() -> None:
        async with meeting("send_halves", *listen(tmp_path)) as peer:
            decoder = FrameDecoder()
            for _ in range(2):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await receive_async(peer.source, decoder, bytes)
            assert decoder.wanted == 10
            peer.process.send_signal(signal.SIGUSR1)
            assert await receive_async(peer.source, decoder, bytes) == bytes(20)

    asyncio.run(wait_in_vain())


@every_listener
def test_a_slow_reader_keeps_the_buffer_of_an_asyncio_writer_small(
    listen: Listen, tmp_path: Path
) -> None:
    frame, tasks, each = 100_004, 3, 100

    async def pour() -> None:
        async with meeting("read_late", *listen(tmp_path)) as peer:
            sizes = list[int]()

            async def send_many() -> None:
                for _ in range(each):
                    await send_async(peer.sink, bytes(frame - 4), bytes)
                    sizes.append(peer.sink.transport.get_write_buffer_size())

            senders = [asyncio.create_task(send_many()) for _ in range(tasks)]
            done, _ = await asyncio.wait(senders, timeout=0.5)
            held = peer.sink.transport.get_write_buffer_size()
            _low, high = peer.sink.transport.get_write_buffer_limits()
            peer.process.send_signal(signal.SIGUSR1)
            await asyncio.gather(*senders)
            peer.sink.write_eof()
            total = await receive_async(peer.source, FrameDecoder(), bytes)
            assert not done
            assert high < held <= high + tasks * frame
            assert max(sizes) <= high + tasks * frame
            assert total == struct.pack(">Q", tasks * each * frame)

    asyncio.run(pour())


# --- What stands around ---------------------------------------------------------------------------


def test_framing_brings_in_neither_asyncio_nor_sockets() -> None:
    code = "import molo.framing, sys; print({'asyncio', 'socket', 'ssl', 'json'} & {*sys.modules})"
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, timeout=PATIENCE).strip() == b"set()"


def test_the_example_talks_and_hangs_up_at_its_deadline() -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "ipc.py")]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    said = [line.partition(":")[0].partition(",")[0] for line in done.stdout.decode().splitlines()]
    assert said == ["agent asks", "model says", "agent asks", "no answer in 1 second"]
    assert done.stderr == b""
