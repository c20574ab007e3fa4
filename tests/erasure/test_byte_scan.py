from __future__ import annotations

from picomem.erasure.proof import Finder, pieces

FOLDER = "/home/ann/.claude/projects/-home-ann-code-harbour-of-the-north"


def test_a_path_is_known_by_its_whole_and_its_end_and_not_by_the_folders_that_others_share():
    purged = f"{FOLDER}/3f2008a2-a07b-4a03-88db-1af5f73df938.jsonl"
    other = f"{FOLDER}/77c1d3aa-0b2e-4f5d-9e66-52d0a1b7c9e4.jsonl"
    finder = Finder(pieces([purged]))
    assert finder.found_in(other.encode()) == set()
    assert finder.found_in(f"read {purged} again".encode())
    assert finder.found_in(purged[-30:].encode())


def test_a_text_is_known_by_its_beginning_its_middle_and_its_end():
    text = "The harbour master keeps the list of moorings in a green folder on the top shelf"
    for part in (text[:30], text[35:70], text[-30:]):
        assert Finder(pieces([text])).found_in(part.encode()), part
    assert Finder(pieces(["/plan a trip to the north, then tell me"])).found_in(b"/plan a trip to the north, by train")
