"""`dataclass` for modules that every command loads: the same behaviour, ten times as fast to define.

The standard one loads `inspect` and compiles six methods a class, 40 classes a recall. That was half of the time of a
cold `picomem recall`. Here `__init__` is compiled when the first value is made, and the other methods are the same
few functions for every class. A type checker sees the standard decorator, and so does the standard library: `fields`,
`replace`, `asdict` and `is_dataclass` of `dataclasses` work on these classes too.

Supported are: `slots` always; `frozen`, `kw_only`, `field(default=, default_factory=, metadata=)`, `__post_init__`,
comparing, hashing if frozen, `repr`, pickling. Inherited fields and zero-argument `super()` are not supported.
"""

from __future__ import annotations

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "replace"]

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, replace
else:

    class _Missing:
        """The marker for a missing default."""

        __slots__ = ()

        def __repr__(self):
            return "MISSING"

    MISSING = _Missing()
    _ATOMS = frozenset({str, int, float, bool, type(None)})

    class _Field:
        """One field of a class."""

        __slots__ = ("default", "default_factory", "metadata", "name")

        def __init__(self, default, default_factory, metadata):
            self.name = ""
            self.default = default
            self.default_factory = default_factory
            self.metadata = metadata

    def field(*, default=MISSING, default_factory=MISSING, metadata=None):
        """A field with a default made anew for each value, or with something said about it."""
        return _Field(default, default_factory, metadata or {})

    def dataclass(*, slots, frozen=False, kw_only=False):
        """Make a class of values from annotations. `slots` must be given, and true: there is no other kind here."""
        assert slots

        def made(cls):
            members = dict(vars(cls))
            known = {}
            for name in cls.__annotations__:
                given = members.pop(name, MISSING)
                known[name] = given if isinstance(given, _Field) else _Field(given, MISSING, {})
                known[name].name = name
            for name in ("__dict__", "__weakref__"):
                members.pop(name, None)
            members = {**_METHODS, **(_FROZEN if frozen else {"__hash__": None}), **members}
            members |= {"__slots__": tuple(known), "__match_args__": () if kw_only else tuple(known)}
            members["__value_fields__"] = known
            new = type(cls)(cls.__name__, cls.__bases__, members)
            new.__qualname__ = cls.__qualname__
            new.__init__ = _late_init(new, kw_only)
            return new

        return made

    def fields(value):
        """The fields of a class, or of a value of it, in order."""
        known = getattr(value, "__value_fields__", None)
        if known is None:
            import dataclasses

            return dataclasses.fields(value)
        return tuple(known.values())

    def replace(value, /, **changes):
        """A copy with some fields changed."""
        known = getattr(value, "__value_fields__", None) or [spec.name for spec in fields(value)]
        return type(value)(**{name: getattr(value, name) for name in known} | changes)

    def asdict(value):
        """A value as a dictionary, and the values, lists, tuples and dictionaries in it likewise."""
        names = getattr(value, "__value_fields__", None) or [spec.name for spec in fields(value)]
        return {name: _as_plain(getattr(value, name)) for name in names}

    def _as_plain(value):
        if type(value) in _ATOMS:
            return value
        if hasattr(type(value), "__value_fields__"):
            return asdict(value)
        if isinstance(value, list | tuple):
            return type(value)(map(_as_plain, value))
        if isinstance(value, dict):
            return {name: _as_plain(inner) for name, inner in value.items()}
        return value

    def _late_init(cls, kw_only):
        """An `__init__` that compiles the real one, puts it in its own place and calls it."""

        def init(self, *args, **kwargs):
            cls.__init__ = _compiled_init(cls, kw_only)
            cls.__init__(self, *args, **kwargs)

        return init

    def _compiled_init(cls, kw_only):
        known = {"_missing": MISSING}
        parameters = ["self", "*"] if kw_only and cls.__value_fields__ else ["self"]
        lines = []
        for name, spec in cls.__value_fields__.items():
            known[f"_set_{name}"] = vars(cls)[name].__set__  # the slot's own: a frozen class refuses any other way
            value = name
            if spec.default_factory is not MISSING:
                known[f"_make_{name}"] = spec.default_factory
                parameters.append(f"{name}=_missing")
                value = f"_make_{name}() if {name} is _missing else {name}"
            elif spec.default is not MISSING:
                known[f"_default_{name}"] = spec.default
                parameters.append(f"{name}=_default_{name}")
            else:
                parameters.append(name)
            lines.append(f"    _set_{name}(self, {value})\n")
        if hasattr(cls, "__post_init__"):
            lines.append("    self.__post_init__()\n")
        made = {}
        exec(f"def __init__({', '.join(parameters)}):\n{''.join(lines) or '    pass'}", known, made)
        made["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return made["__init__"]

    def _values(self):
        return tuple([getattr(self, name) for name in self.__value_fields__])

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__value_fields__)
        return f"{type(self).__qualname__}({shown})"

    def _equal(self, other):
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def _refuse_setting(_self, name, *value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")

    def _set_state(self, state):
        for name, value in zip(self.__value_fields__, state, strict=True):
            object.__setattr__(self, name, value)

    class _Standard:
        """An attribute that the standard library keeps in a dataclass, created on first use."""

        def __init__(self, name):
            self._name = name

        def __get__(self, _value, cls):
            import dataclasses

            specified = [
                (
                    spec.name,
                    cls.__annotations__[spec.name],
                    dataclasses.field(
                        default=dataclasses.MISSING if spec.default is MISSING else spec.default,
                        default_factory=(
                            dataclasses.MISSING if spec.default_factory is MISSING else spec.default_factory
                        ),
                        metadata=spec.metadata,
                    ),
                )
                for spec in cls.__value_fields__.values()
            ]
            frozen = cls.__setattr__ is _refuse_setting
            twin = dataclasses.make_dataclass(cls.__name__, specified, kw_only=True, frozen=frozen)
            made = getattr(twin, self._name)
            setattr(cls, self._name, made)  # from now on it is there, as in any dataclass
            return made

    _METHODS = {
        "__repr__": _repr,
        "__eq__": _equal,
        "__getstate__": _values,
        "__setstate__": _set_state,
        "__dataclass_fields__": _Standard("__dataclass_fields__"),
        "__dataclass_params__": _Standard("__dataclass_params__"),
    }
    _FROZEN = {"__hash__": _hash, "__setattr__": _refuse_setting, "__delattr__": _refuse_setting}
