"""Our `dataclass` beside the standard one: the same values, the same refusals."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from picomem.light_dataclass import MISSING, asdict, dataclass, field, fields, replace
from tests.cases import each_case


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)

    @property
    def far(self) -> bool:
        return self.x > 10

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    name: str = ""
    point: Point
    more: dict[str, tuple[Point, ...]] = field(default_factory=dict, metadata={"help": "others"})


@dataclass(slots=True)
class Count:
    number: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    user: str
    part: int = 0


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclasses.dataclass(frozen=True)
class Standard:
    key: Key
    size: int = 1


def test_values_are_made_by_place_and_by_name_and_defaults_are_made_anew() -> None:
    assert (Point(1).x, Point(1).y, Point(1, 5).y, Point(x=3).x) == (1, 2, 5, 3)
    assert Point(1).tags == []
    assert Point(1).tags is not Point(1).tags
    assert Point(11).far
    assert Nothing() == Nothing()
    assert Named(point=Point(1)).name == ""


def test_what_does_not_fit_is_refused_as_by_the_standard_one() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Point(1, z=2)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Named("name", Point(1))  # pyright: ignore[reportCallIssue]
    with pytest.raises(ValueError, match="negative"):
        Point(-1)


def test_frozen_values_cannot_be_changed_and_others_can_but_gain_nothing() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x  # type: ignore[misc]
    count = Count()
    count.number += 1
    assert count == Count(1)
    with pytest.raises(AttributeError):
        count.other = 1  # type: ignore[attr-defined]


def test_values_are_compared_and_hashed_by_what_they_hold_and_never_across_classes() -> None:
    assert Key("a") == Key("a", 0) != Key("b")
    assert len({Key("a"), Key("a"), Key("b")}) == 2
    assert Key("a") != ("a", 0)
    assert Count() != Nothing()
    with pytest.raises(TypeError):
        hash(Count())


def test_a_value_shows_itself_and_matches_as_the_standard_one_does() -> None:
    assert repr(Named(point=Point(1))) == "Named(name='', point=Point(x=1, y=2, tags=[]), more={})"
    match Point(1, 5):
        case Point(x, y):
            assert (x, y) == (1, 5)
    assert Point.__doc__ == "A place."
    assert Point.__qualname__ == "Point"


def test_replace_and_asdict_work_on_both_kinds_of_classes() -> None:
    named = Named(name="n", point=Point(1), more={"others": (Point(2),)})
    assert replace(named, name="m").name == "m"
    plain = {"x": 1, "y": 2, "tags": []}
    assert asdict(named) == {"name": "n", "point": plain, "more": {"others": ({**plain, "x": 2},)}}
    assert replace(Standard(Key("a")), size=2) == Standard(Key("a"), 2)
    assert asdict(Standard(Key("a"))) == {"key": {"user": "a", "part": 0}, "size": 1}
    with pytest.raises(ValueError, match="negative"):
        replace(Point(1), x=-1)


def test_the_standard_library_takes_them_for_its_own() -> None:
    named = Named(name="n", point=Point(1))
    assert dataclasses.is_dataclass(Point)
    assert [spec.name for spec in dataclasses.fields(Named)] == ["name", "point", "more"]
    assert dataclasses.fields(Named)[1].default is dataclasses.MISSING
    assert dataclasses.asdict(named) == asdict(named)
    assert dataclasses.replace(named, name="m") == replace(named, name="m")
    assert dataclasses.asdict(Standard(Key("a"))) == {"key": {"user": "a", "part": 0}, "size": 1}


def test_what_the_standard_library_asks_for_is_made_once() -> None:
    assert dataclasses.fields(Key)[0] is dataclasses.fields(Key)[0]
    assert dataclasses.fields(Key)[0] is not dataclasses.fields(Named)[0]


def test_fields_tell_their_defaults_and_what_was_said_about_them() -> None:
    name, point, more = fields(Named)
    assert (name.name, name.default) == ("name", "")
    assert point.default is MISSING
    assert point.default_factory is MISSING
    assert more.default_factory is dict
    assert more.metadata == {"help": "others"}
    assert fields(Nothing()) == ()


@each_case("value", [Point(1, 5, ["a"]), Named(point=Point(1)), Count(3), Nothing()])
def test_values_can_be_copied_and_sent_to_another_process(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value == copy.copy(value)
