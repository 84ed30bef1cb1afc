"""Names of kernels: symbols demangled, and the short form a person recognises.

No function fails: what cannot be understood comes back as it was given.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from gviz.dataclass import dataclass

#: Distinct names kept; a process rarely has more than a few thousand kernels.
_CACHE_SIZE = 65536
#: Template arguments shown; a fourth and later ones become an ellipsis.
_ARGUMENT_LIMIT = 3
#: Levels of template arguments shown inside template arguments.
_DEPTH_LIMIT = 2
#: Brackets nested deeper than this are not parsed.
_NESTING_LIMIT = 100
#: Longest template argument shown that is neither a type nor a function.
_TEXT_LIMIT = 40
#: Longest short name; a longer one loses its middle.
_NAME_LIMIT = 200
#: A symbol's qualified name as it stands there, when nothing can demangle it: lengths and names.
_SYMBOL = re.compile(r"_Z(?:N[rVK]*[RO]?)?(?=\d)")
_LENGTH = re.compile(r"\d{1,5}")

_ANONYMOUS = re.compile(
    r"(?:\(anonymous namespace\)|\(unnamed namespace\)|\{anonymous\}|<unnamed>)::"
)
_NOISE = re.compile(r"\[abi:\w+\]|\s*\[clone [^\]]*\]$")
_OPERATOR = re.compile(r"\boperator\s*(\(\)|<=>|<<=|>>=|<<|>>|->\*|->|<=|>=|<|>)\s*|(->)")
_HIDE = str.maketrans("()<>", "\x01\x02\x03\x04")
_SHOW = str.maketrans("\x01\x02\x03\x04", "()<>")
_QUALIFIER = re.compile(r"(?:\b\w+::)+")
_AFTER_PARAMETERS = re.compile(r"(?: const| volatile|\s*&+)*")
_CV_TAIL = re.compile(r"\s*(?:const\b|volatile\b|[*&\s])*$")
_LITERAL = re.compile(r"-?\d[\w.]*|true|false|nullptr|\([^()]*\)-?\w+|'.'")
#: ``operator()`` with its brackets hidden.
_CALL = "operator\x01\x02"
#: Where a functor keeps its pointers and how it walks them: the same for every kernel.
_PLUMBING = re.compile(
    r"(?:std::(?:__1::)?array|at::detail::Array)<|\w*OffsetCalculator\b|Load(?:WithCast|WithoutCast)"
    r"|Store(?:WithCast|WithoutCast)|at::native::memory::|(?:\w+::)*\w*[Pp]olicy(?:_hub)?\b"
)
#: Functions and types that only pass a functor on, and which of their arguments it is.
_WRAPPERS = {
    "gpu_kernel_impl": 0,
    "gpu_kernel_impl_nocast": 0,
    "func_wrapper_t": -1,
    "__nv_dl_wrapper_t": 0,
    "__nv_hdl_wrapper_t": 0,
    "__nv_dl_tag": -1,
    "__nv_dl_trailing_return_tag": -1,
}


class _NotAName(Exception):
    """The brackets of a text do not close: it is no demangled C++ name."""


@dataclass(frozen=True, slots=True)
class _Component:
    """One part between ``::``: its name and, if it has any, its template arguments."""

    name: str
    arguments: tuple[str, ...]

    @property
    def is_lambda(self) -> bool:
        return self.name.startswith(("{lambda", "{unnamed", "'lambda", "[lambda"))


@lru_cache(maxsize=_CACHE_SIZE)
def demangle(mangled: str) -> str:
    """Return the C++ name of a symbol, or the symbol itself when it cannot be demangled.

    References
    ----------
    Itanium C++ ABI, section 3.4 (``__cxa_demangle``).
    """
    if not mangled.startswith("_Z"):
        return mangled
    function = _demangler()
    return mangled if function is None else function(mangled) or mangled


@lru_cache(maxsize=_CACHE_SIZE)
def parameter_types(name: str) -> tuple[str, ...] | None:
    """Return the types of a kernel's parameters as its name spells them; None: it does not.

    Parameters
    ----------
    name
        A demangled name or a symbol.

    Examples
    --------
    >>> parameter_types("void scale<float>(float*, int, (lambda at main.cu:3))")
    ('float*', 'int', '(lambda at main.cu:3)')
    >>> parameter_types("triton_poi_fused_add_0") is None
    True
    """
    text = _hide_operators(demangle(name))
    found, at = None, 0
    try:
        while at < len(text):
            if text[at] in "<{[(":
                end = _close(text, at)
                if text[at] == "(":
                    found = text[at + 1 : end]
                at = end
            at += 1
        if found is None:
            return None
        types = tuple(part.translate(_SHOW) for part in _split(found))
    except _NotAName:
        return None
    return () if types == ("void",) else types


@lru_cache(maxsize=_CACHE_SIZE)
def short_name(name: str) -> str:
    """Return what distinguishes a kernel, in the fewest words.

    Return type, parameters, namespaces, the pointers' container and numbers beside types
    are left out; a lambda is called by the function that holds it.

    Parameters
    ----------
    name
        A demangled name, a symbol, or the plain name of a C, Triton, CuPy or XLA kernel.

    Examples
    --------
    >>> short_name("void at::native::vectorized_elementwise_kernel<4, at::native::"
    ...            "FillFunctor<float>, std::array<char*, 1ul> >(int, float)")
    'vectorized_elementwise_kernel<FillFunctor<float>>'
    """
    readable = demangle(name)
    if not any(c in readable for c in ":<( "):
        return _cut(_last_name(readable) or readable)
    try:
        components = _components(_hide_operators(_NOISE.sub("", readable).strip()))
        return _cut(_shorten(components, 0).translate(_SHOW) or name)
    except _NotAName:
        return _cut(name)


def _cut(name: str) -> str:
    """Return _NAME_LIMIT characters at most: kernels differ at the beginning or the end."""
    if len(name) <= _NAME_LIMIT:
        return name
    half = (_NAME_LIMIT - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _last_name(symbol: str) -> str | None:
    """Return the function's own name out of a symbol that nothing could demangle.

    References
    ----------
    Itanium C++ ABI, section 5.1.2: a name is its length and its characters; those of a nested name
    stand one after another behind ``N``.
    """
    start = _SYMBOL.match(symbol)
    found, at = None, start.end() if start else len(symbol)
    while length := _LENGTH.match(symbol, at):
        at = length.end() + int(length.group())
        if at > len(symbol):
            return None
        found = symbol[length.end() : at]
    return found


def _runtimes() -> Iterator[str | None]:
    """Yield the libraries that may demangle, likeliest first."""
    yield "libstdc++.so.6"
    yield "libc++abi.so.1"
    # The search starts a compiler and two linkers: only where neither is there.
    from ctypes.util import find_library

    yield find_library("c++abi")


@cache
def _demangler() -> Callable[[str], str | None] | None:
    """Load the C++ runtime's demangler; None where there is none."""
    for library in _runtimes():
        try:
            runtime = ctypes.CDLL(library) if library else None
            function = getattr(runtime, "__cxa_demangle", None)
        except OSError:
            continue
        if function is not None:
            break
    else:
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_int),
    ]
    release = ctypes.CDLL(None).free
    release.restype = None
    release.argtypes = [ctypes.c_void_p]

    def run(symbol: str) -> str | None:
        status = ctypes.c_int()
        address = function(symbol.encode(errors="replace"), None, None, ctypes.byref(status))
        if not address:
            return None
        try:
            return ctypes.string_at(address).decode(errors="replace")
        finally:
            release(address)

    return run


def _hide_operators(text: str) -> str:
    """Replace brackets that belong to operators and arrows, so that the others pair up."""
    text = _ANONYMOUS.sub("", text)
    return _OPERATOR.sub(lambda m: m.group().rstrip().translate(_HIDE), text)


def _close(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at ``start``."""
    stack: list[str] = []
    for i in range(start, len(text)):
        c = text[i]
        if c in "({[" or (c == "<" and text[i - 1] != ")"):  # ")<" compares numbers
            stack.append({"(": ")", "<": ">", "{": "}", "[": "]"}[c])
            if len(stack) > _NESTING_LIMIT:
                raise _NotAName
        elif c in ")}]":
            while stack and stack[-1] == ">" != c:
                stack.pop()  # a less-than sign inside an expression
            if not stack or stack.pop() != c:
                raise _NotAName
        elif c == ">" and stack[-1] == ">":
            stack.pop()
        if not stack:
            return i
    raise _NotAName


def _split(text: str) -> tuple[str, ...]:
    """Split template arguments at their top-level commas."""
    parts: list[str] = []
    begin = i = 0
    while i < len(text):
        if text[i] in "({[" or (text[i] == "<" and text[i - 1] != ")"):
            i = _close(text, i)
        elif text[i] == ",":
            parts.append(text[begin:i].strip())
            begin = i + 1
        i += 1
    parts.append(text[begin:].strip())
    return tuple(p for p in parts if p)


def _components(text: str) -> list[_Component]:
    """Parse a function or type: its qualified name, without return type and parameters."""
    found: list[_Component] = []
    name, arguments, i = "", (), 0  # type: str, tuple[str, ...], int
    while i < len(text):
        c = text[i]
        if c == "<":
            end = _close(text, i)
            arguments = _split(text[i + 1 : end])
            i = end
        elif c in "{[":
            end = _close(text, i)
            name += text[i : end + 1]
            i = end
        elif c == "(":
            end = _close(text, i)
            if name.endswith(("decltype", "'lambda'")):
                name += text[i : end + 1]
            elif not name and not found and text[i + 1 : i + 2] in ("*", "&"):
                return _components(text[i + 2 : end])  # a function that returns one
            else:
                end = _AFTER_PARAMETERS.match(text, end + 1).end() - 1  # type: ignore[union-attr]
                if not text.startswith("::", end + 1):
                    break
            i = end
        elif text.startswith("::", i):
            found.append(_Component(name, arguments))
            name, arguments, i = "", (), i + 1
        elif c == " ":
            if (found or name) and _CV_TAIL.match(text, i):
                break
            found, name, arguments = [], "", ()  # that was the return type
        else:
            name += c
        i += 1
    found.append(_Component(name, arguments))
    return found


def _shorten(components: list[_Component], depth: int) -> str:
    """Return the last component that has a name of its own, with its arguments."""
    named = [c for c in components if c.name and not c.is_lambda and c.name != _CALL]
    if not named:
        return "lambda" if any(c.is_lambda for c in components) else ""
    last = named[-1]
    if last.name in _WRAPPERS:
        arguments = _kept_arguments(last.arguments, depth - 1)
        return arguments[_WRAPPERS[last.name]] if arguments else last.name
    arguments = _kept_arguments(last.arguments, depth) if depth < _DEPTH_LIMIT else []
    shown = f"<{', '.join(arguments)}>" if arguments else ""
    is_call = components[-1].name == _CALL and components[-2] is last
    return last.name.rstrip("*& ") + shown + (f"::{_CALL}" if is_call else "")


def _kept_arguments(arguments: tuple[str, ...], depth: int) -> list[str]:
    """Return the arguments worth showing: types and functions; numbers if there is no type."""
    literal = [a for a in arguments if _LITERAL.fullmatch(a)]
    if len(literal) == len(arguments):
        chosen = [a.translate(_SHOW) for a in literal]
    else:
        types = [a for a in arguments if a not in literal and not _PLUMBING.match(a)]
        chosen = list(dict.fromkeys(filter(None, (_argument(a, depth + 1) for a in types))))
    if len(chosen) > _ARGUMENT_LIMIT:
        chosen = [*chosen[:_ARGUMENT_LIMIT], "…"]
    return chosen


def _argument(text: str, depth: int) -> str:
    """Return a template argument in short."""
    if text.startswith("&"):
        text = text[1:].strip()
        text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    if not any(c in text for c in "<({["):
        return _QUALIFIER.sub("", text)
    short = _shorten(_components(text), depth)
    return short if short not in ("", "void") else _QUALIFIER.sub("", text)[:_TEXT_LIMIT]
