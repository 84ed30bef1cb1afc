"""Types of numpy arrays, by what their elements are, and the mark of unknown numbers.

Shapes are given where the arrays are used.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: In place of a number that is not known, in columns whose numbers are never negative.
UNKNOWN = -1

BoolArray = npt.NDArray[np.bool_]
#: Counts, ids, places, and times in nanoseconds.
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
#: Addresses in the memory of a device or of the host.
AddressArray = npt.NDArray[np.uint64]
