"""Contents of memory that were kept: files of NumPy's format in a folder beside the recording.

A file is named by what it holds, so that contents which nodes hand on are kept once, and names stay
right whatever numbers graphs and nodes have in a recording.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gviz.cuda import ElementType
from gviz.errors import RecordingError
from gviz.recording.output import contents_folder
from gviz.system import create_folder, written_aside

#: Of the files that a watched process writes.
_RAW_SUFFIX = ".contents"
_RAW_NAME = re.compile(rf"[0-9a-f]{{16}}-[0-9]+-[0-7]-([0-9]|1[0-5]){re.escape(_RAW_SUFFIX)}")
#: float8 of 4 bits of exponent as float16 has 8 more in its bias; all ones are its only NaN.
_E4M3_SCALE = 256.0
_WORD_BYTES = 8


def contents_name(contents_hash: int, size_bytes: int, address: int, element: ElementType) -> str:
    """Return the name of contents, without the file's suffix.

    Parameters
    ----------
    contents_hash
        As table ``node_value`` has it.
    address
        Where they lie: the hash is of whole words, some of them cut.
    """
    unsigned = contents_hash & (2**64 - 1)
    return f"{unsigned:016x}-{size_bytes}-{address % _WORD_BYTES}-{int(element)}"


def keep_contents(spool: Path, recording: Path) -> None:
    """Make the files of a recording's contents from those that a watched process left in a spool.

    Raises
    ------
    OSError
        If they cannot be written.
    """
    found = sorted(raw for raw in spool.glob(f"*{_RAW_SUFFIX}") if _RAW_NAME.fullmatch(raw.name))
    if not found:
        return
    folder = contents_folder(recording)
    create_folder(folder)
    for raw in found:
        _keep(raw, folder / f"{raw.name.removesuffix(_RAW_SUFFIX)}.npy")


def _keep(raw: Path, kept: Path) -> None:
    with written_aside(kept) as part, part.open("wb") as file:
        np.save(file, np.memmap(raw, _stored(_element_of(raw), raw.stat().st_size), mode="r"))


def copy_contents(recording: Path, other: Path) -> None:
    """Copy what is kept beside a recording to a place beside another, for its owner alone.

    Raises
    ------
    RecordingError
        If they cannot be read or written.
    """
    found = sorted(contents_folder(recording).glob("*.npy"))
    folder = contents_folder(other)
    try:
        if found:
            create_folder(folder)
        for kept in found:
            if not (folder / kept.name).exists():
                with written_aside(folder / kept.name) as part:
                    shutil.copyfile(kept, part)
    except OSError as error:
        raise RecordingError(f"{other} is written, without all contents: {error}") from error


def load_contents(kept: Path) -> npt.NDArray[np.generic]:
    """Return the elements of a file.

    Types that NumPy lacks become float32, which holds each of their values exactly.

    Raises
    ------
    RecordingError
        If it cannot be read.
    """
    try:
        element = _element_of(kept)
        if kept.is_fifo():  # opening one waits for who writes into it
            raise ValueError("it is a pipe")
        stored: npt.NDArray[np.generic] = np.load(kept, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError) as error:  # of a size that is claimed
        raise RecordingError(f"cannot read the contents {kept}: {error}") from error
    if stored.dtype != _stored(element, stored.nbytes):
        raise RecordingError(f"{kept} holds {stored.dtype}, not {element.text}; record it anew")
    if element == ElementType.BFLOAT16 and stored.dtype.itemsize == element.size_bytes:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    if element == ElementType.FP8_E5M2:
        return (stored.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return _e4m3(stored) if element == ElementType.FP8_E4M3 else stored


def _e4m3(stored: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    bits = stored.astype(np.uint16)
    halves = ((bits & 0x80) << 8 | (bits & 0x7F) << 7).view(np.float16).astype(np.float32)
    return np.where((bits & 0x7F) == 0x7F, np.float32(np.nan), halves * np.float32(_E4M3_SCALE))


def _element_of(file: Path) -> ElementType:
    """Return the type in a file's name; ValueError: it is none of gviz."""
    return ElementType(int(file.stem.rpartition("-")[2]))


def _stored(element: ElementType, size_bytes: int) -> np.dtype[np.generic]:
    """Return the type that elements have in a file: bytes where no whole number of them fits."""
    if size_bytes % element.size_bytes:
        return np.dtype(np.uint8)
    return np.dtype(element.dtype or f"uint{8 * element.size_bytes}")
