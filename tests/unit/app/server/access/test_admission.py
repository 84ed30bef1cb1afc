"""One-time codes, and the sessions that they are exchanged for."""

from __future__ import annotations

import pytest

from gviz.app.server.access.admission import CODE_SECONDS, OLD, UNKNOWN, USED, Admission, CodeError


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_code_is_exchanged_once() -> None:
    admission = Admission()
    code = admission.new_code()
    session = admission.exchange(code)
    assert admission.accepts(session)
    assert not admission.accepts(code)
    with pytest.raises(CodeError) as caught:
        admission.exchange(code)
    assert str(caught.value) == USED


def test_each_code_and_session_is_another() -> None:
    admission = Admission()
    codes = [admission.new_code() for _ in range(3)]
    sessions = [admission.exchange(code) for code in codes]
    assert len({*codes, *sessions}) == 6
    assert all(len(secret) >= 43 for secret in (*codes, *sessions))
    assert all(map(admission.accepts, sessions))


@pytest.mark.parametrize(("later", "works"), [(CODE_SECONDS - 1, True), (CODE_SECONDS + 1, False)])
def test_code_works_for_15_minutes(later: float, works: bool) -> None:
    clock = _Clock()
    admission = Admission(clock)
    code = admission.new_code()
    clock.now += later
    if works:
        assert admission.exchange(code)
    else:
        with pytest.raises(CodeError) as caught:
            admission.exchange(code)
        assert str(caught.value) == OLD


@pytest.mark.parametrize("code", ["", "x", "\udce9"])
def test_what_is_no_code_is_none(code: str) -> None:
    with pytest.raises(CodeError) as caught:
        Admission().exchange(code)
    assert str(caught.value) == UNKNOWN
    assert not Admission().accepts(code)
