"""A report as JUnit XML, which CI servers show as tests.

References
----------
There is no standard; written is what Jenkins' xunit plugin, GitLab and GitHub actions read: a
testsuite a graph, a testcase a check, with ``failure``, ``error`` (could not be judged) or
``skipped`` in it. https://github.com/testmoapp/junitxml
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from xml.etree import ElementTree

from gviz.checks.check_result import FAILED, SKIPPED, UNJUDGED, Check, CheckReport
from gviz.checks.words import describe, place

#: What XML 1.0 cannot hold (https://www.w3.org/TR/xml/#charsets); names may hold anything.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(report: CheckReport) -> str:
    """Return a report as JUnit XML."""
    attributes = {"name": "gviz check"} | _counts(report, report.checks)
    root = ElementTree.Element("testsuites", attributes)
    for _, checks in groupby(report.checks, key=_suite):
        _add_suite(root, report, list(checks))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(check: Check) -> tuple[int, int | None]:
    return check.run_id, check.graph_id


def _add_suite(root: ElementTree.Element, report: CheckReport, checks: list[Check]) -> None:
    name = _clean(place(checks[0]))
    attributes = {"name": name} | _counts(report, checks)
    suite = ElementTree.SubElement(root, "testsuite", attributes)
    for check in checks:
        attributes = {"classname": name, "name": _clean(check.what)}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        text = _clean(describe(check))
        if check.status == FAILED:
            ElementTree.SubElement(case, "failure", {"message": text}).text = text
        elif check.status == UNJUDGED and not report.unjudged_passes:
            ElementTree.SubElement(case, "error", {"message": text}).text = text
        elif check.status in (UNJUDGED, SKIPPED):
            ElementTree.SubElement(case, "skipped", {"message": text})
        elif text:
            ElementTree.SubElement(case, "system-out").text = text


def _counts(report: CheckReport, checks: Iterable[Check]) -> dict[str, str]:
    found = [check.status for check in checks]
    unjudged = found.count(UNJUDGED)
    errors = 0 if report.unjudged_passes else unjudged
    return {
        "tests": str(len(found)),
        "failures": str(found.count(FAILED)),
        "errors": str(errors),
        "skipped": str(found.count(SKIPPED) + unjudged - errors),
    }


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
