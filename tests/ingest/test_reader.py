from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from tests.cases import each_case
from tests.cost import cost

from picomem.errors import InvalidInput, NotFound
from picomem.ingest import reader


def _all(path: Path, offset: int = 0, **options) -> list[tuple]:
    return [tuple(line) for line in reader.lines(path, offset, **options)]


def _zst(*frames: bytes) -> bytes:
    return b"".join(zstandard.ZstdCompressor().compress(frame) for frame in frames)


def test_a_half_written_line_is_not_consumed_and_is_met_whole_later(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b"')
    assert _all(path) == [(0, 8, b'{"a":1}')]
    with path.open("ab") as file:
        file.write(b":2}\n")
    assert _all(path, 8) == [(8, 16, b'{"b":2}')]


def test_a_last_line_without_a_newline_is_given_once_it_is_whole(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}')
    assert [line[2] for line in _all(path)] == [b'{"a":1}', b'{"b":2}']
    with path.open("ab") as file:
        file.write(b'\n{"c":3}\n')
    assert _all(path, 15) == [(16, 24, b'{"c":3}')]
    for half in (b'{"b":', b"12", b'"b"', b"[1]"):  # a number, for one, may go on
        path.write_bytes(b'{"a":1}\n' + half)
        assert [line[2] for line in _all(path)] == [b'{"a":1}']


def test_byte_order_mark_carriage_returns_nul_padding_and_blank_lines_are_taken_off(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n\r\n\n\0\0\0{}\n\0\n")
    lines = _all(path)
    assert [line[2] for line in lines] == [b"{}", b"{}"]
    whole = path.read_bytes()
    assert [whole[start:end].endswith(b"\n") for start, end, _ in lines] == [True, True]


def test_a_byte_order_mark_is_taken_off_any_line_because_files_are_joined(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n\xef\xbb\xbf\n\xef\xbb\xbf{}")
    assert [line[2] for line in _all(path)] == [b"{}", b"{}", b"{}"]


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(
    "between", ["", " ", "\0\0", "\t ", "\0" * 4096, "\0" * 100_000, "\ufeff", "\0\ufeff\ufeff ", "\x1e"]
)
def test_records_that_stand_in_one_line_are_each_given_with_their_place(tmp_path, between):
    first = {
        "role": "user",
        "content": 'braces {"role": "user"} in a string{',
        "parts": [{"type": "text"}, {"a": [{"b": 1}]}],
    }
    second, third = {"type": "message", "role": "assistant"}, {"role": "user"}
    text = "  " + between.join(map(json.dumps, (first, second, third))) + '\n{"role": "user", "content": "alone"}\n'
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    read = list(reader.records(path))
    assert [json.loads(line.data or b"") for line in read] == [
        first,
        second,
        third,
        {"role": "user", "content": "alone"},
    ]
    assert [read[0].offset, *(line.end for line in read)] == [line.offset for line in read] + [path.stat().st_size]
    for place, line in enumerate(read):
        assert list(reader.records(path, line.offset)) == read[place:]


def test_records_with_spaces_inside_their_braces_are_each_given(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{ "a": { "b": 1 } }{ "a": [ { "b": 2 }, { "b": 3 } ] }\n')
    assert [line.data for line in reader.records(path)] == [
        b'{ "a": { "b": 1 } }',
        b'{ "a": [ { "b": 2 }, { "b": 3 } ] }',
    ]


@pytest.mark.parametrize("end", ["\ufefb", "\ufffb"])
def test_a_letter_with_the_bytes_of_a_byte_order_mark_stays(tmp_path, end):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": "{end}{{"a": "b"}}\n')
    assert [line.data for line in reader.records(path)] == [f'{{"a": "{end}'.encode(), b'{"a": "b"}']


@each_case(
    "piece",
    [
        b'x{"a":',
        b' {"a":',
        b'{"a":1}',
        b'{"a":',
        b'{"a":1},',
        b'{"a":[',
        b'{"a":"b,',
        b'{"' + b"a" * 60,
        b'x{"a":1}' + b"\0" * 5000,
        b'{"a":1}' + b"\xef\xbb\xbf" * 5000,
        b"\xef\xbb\xbf",
        b"\xbf",
        b"\\",
        b'\\"',
        b'{"type":"user","message":{"content":"x',
        b'{"type":"user","message":{"content":[{"type":"text"},',
    ],
)
@each_case("around", [(b"", b""), (b'{"a":1', b'{"a":1}'), (b'{"a":"b,', b'{"a":1}')])
def test_a_hostile_line_is_taken_apart_in_linear_time(tmp_path, piece, around):
    path = tmp_path / "a.jsonl"

    def read(size: int, enough: float = 0.0) -> float:
        path.write_bytes(around[0] + piece * (size // len(piece)) + around[1] + b"\n")
        return cost(lambda: sum(1 for _ in reader.records(path)), enough)

    enough = 16 * read(250_000) + 0.05
    assert read(2_000_000, enough) <= enough


@pytest.mark.requirement("X2")
def test_a_record_that_follows_a_half_written_one_is_given(tmp_path):
    """A host that is killed while it writes goes on behind the half line. Behind a half line that ends like JSON in
    front of a value, nobody can tell."""
    first = json.dumps({"type": "user", "message": {"content": [{"type": "text", "text": "a {:,[ b"}]}})
    whole = {"type": "user", "message": {"content": "The quay is closed"}}
    path = tmp_path / "a.jsonl"
    for half in (first[:cut] for cut in range(2, len(first)) if first[:cut].rstrip()[-1] not in ":[,"):
        path.write_text(f"{half}{json.dumps(whole)}\n")
        cut_off, given = reader.records(path)
        assert json.loads(given.data or b"") == whole
        assert (cut_off.offset, cut_off.end, given.offset, given.end) == (0, len(half), len(half), path.stat().st_size)


@pytest.mark.requirement("X2")
def test_joined_records_without_a_last_newline_are_given_but_for_an_unfinished_one(tmp_path):
    path = tmp_path / "a.jsonl"
    first, second = '{"role": "user", "content": "one"}', '{"role": "user", "content": "two"}'
    path.write_text(first + second)
    assert [line.data for line in reader.records(path)] == [first.encode(), second.encode()]
    path.write_text(first[:20] + second)
    assert [line.data for line in reader.records(path)] == [first[:20].encode(), second.encode()]
    path.write_text(first + second[:-5])
    (line,) = reader.records(path)
    assert line.data == first.encode()
    path.write_text(first + second + "\n")
    assert [later.data for later in reader.records(path, line.end)] == [second.encode()]


def test_an_empty_file_and_an_offset_beyond_the_end_give_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    assert _all(path) == []
    assert _all(path, 100) == []
    path.write_bytes(_zst(b"{}\n"))
    assert _all(path, 100) == []


def test_a_line_of_50_mb_is_told_without_its_bytes_in_bounded_memory(tmp_path):
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b"{}\n")
        for _ in range(50):
            file.write(b"x" * 1_000_000)
        file.write(b"\n{}\n")
    tracemalloc.start()
    lines = _all(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines == [(0, 3, b"{}"), (3, 50_000_004, None), (50_000_004, 50_000_007, b"{}")]
    assert peak < 64 * 1024 * 1024


def test_a_long_line_that_is_not_finished_is_not_consumed(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + b"x" * 1000)
    assert _all(path, longest=10) == [(0, 3, b"{}")]


def test_a_line_of_exactly_the_longest_length_is_given(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 9 + b"\n" + b"y" * 10 + b"\n" + b"z" * 11 + b"\n")
    assert [line[2] for line in _all(path, longest=10)] == [b"x" * 9, b"y" * 10, None]


def test_compressed_files_have_the_offsets_of_their_text(tmp_path):
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.zst"
    text = b'{"a":1}\n{"b":2}\n{"c":3}\n'
    plain.write_bytes(text)
    packed.write_bytes(_zst(text[:10], text[10:]))  # two frames, cut within a line
    assert _all(packed) == _all(plain)
    assert _all(packed, 8) == _all(plain, 8)
    assert reader.head(packed) == text


def test_a_truncated_frame_gives_the_lines_that_are_whole(tmp_path):
    text = b"".join(b'{"n":%d,"x":"%s"}\n' % (n, os.urandom(400).hex().encode()) for n in range(2000))
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(_zst(text)[:400_000])
    lines = [line[2] for line in _all(path)]
    assert 0 < len(lines) < 2000
    assert lines == text.splitlines()[: len(lines)]


def test_damaged_compression_is_one_error_after_the_lines_before_it(tmp_path):
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(_zst(b"{}\n" * 5) + b"\x28\xb5\x2f\xfd" + b"\xff" * 50)
    lines = []
    with pytest.raises(InvalidInput, match="damaged"):
        lines.extend(reader.lines(path))
    assert len(lines) <= 5


def test_what_gzip_packed_is_read_like_what_zstd_packed(tmp_path):
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    text = b'{"a":1}\n{"b":2}\n{"c":3}\n'
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text[:10]) + gzip.compress(text[10:]))
    assert _all(packed) == _all(plain)
    assert _all(packed, 8) == _all(plain, 8)
    assert reader.head(packed) == text


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damaged_gzip_is_one_error_after_the_lines_before_it(tmp_path, damage):
    whole = gzip.compress(b"".join(b'{"n":%d,"x":"%s"}\n' % (n, os.urandom(400).hex().encode()) for n in range(2000)))
    middle = len(whole) // 2
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(whole[:middle] if damage == "cut" else whole[:middle] + bytes(64) + whole[middle + 64 :])
    lines = []
    with pytest.raises(InvalidInput, match="damaged"):
        lines.extend(reader.lines(path))
    assert 0 < len(lines) < 2000


def _long(window_log: int, data: bytes = b"{}\n" * 5) -> bytes:
    """A frame as `zstd --long` writes it: of an unknown size, so that it names the whole window."""
    settings = zstandard.ZstdCompressionParameters(window_log=window_log, enable_ldm=True)
    compressor = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    return compressor.compress(data) + compressor.flush()


def test_a_frame_with_the_window_of_zstd_long_is_read(tmp_path):
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(_long(27))
    assert len(_all(path)) == 5


@pytest.mark.parametrize("window_log", [28, 31])
def test_a_larger_window_is_called_by_its_name_and_not_damage(engine, tmp_path, window_log):
    path, other = tmp_path / "a.jsonl.zst", tmp_path / "b.jsonl"
    path.write_bytes(_long(window_log))
    other.write_bytes(b'{"role":"user","content":"hello"}\n')
    report = engine.ingest([tmp_path])
    assert (report.unread, report.turns) == (1, 1)
    assert "a window of more than 128 MiB" in report.problems[0]
    assert "zstd -d --long=31" in report.problems[0]
    assert "damaged" not in report.problems[0]


def test_a_name_that_is_no_regular_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="regular"):
        _all(tmp_path / "pipe")
    with pytest.raises(InvalidInput):
        _all(tmp_path)
    with pytest.raises(NotFound):
        _all(tmp_path / "nothing")


def test_a_fingerprint_holds_while_a_file_grows_and_fails_when_it_is_replaced_or_cut(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 10_000)
    print_ = reader.fingerprint(path, 9_000)
    with path.open("ab") as file:
        file.write(b"more\n")
    assert reader.fingerprint(path, 9_000) == print_
    path.write_bytes(b"x" * 8_000)
    assert reader.fingerprint(path, 9_000) == ""
    path.write_bytes(b"y" * 10_000)
    assert reader.fingerprint(path, 9_000) not in ("", print_)
