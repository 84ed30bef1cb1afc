"""Joining ES modules into one script."""

from __future__ import annotations

from pathlib import Path

import pytest

from gviz.app.components.web_modules import join_modules, list_modules


def write(folder: Path, **texts: str) -> Path:
    """Write modules; ``a__b`` is b.js in the folder a."""
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.js"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def test_modules_stand_behind_those_they_import(tmp_path: Path) -> None:
    web = write(
        tmp_path,
        main='import * as b from "./x/b.js";\nimport { c } from "./c.js";\n\nb.run(c);\n',
        x__b='import { c as seed } from "../c.js";\n\nexport function run() {\n  return seed;\n}\n',
        c="export const c = 1;\n",
        alone="export const alone = 1;\n",
    )
    assert list_modules(web, "main.js") == ["c.js", "x/b.js", "main.js"]


def test_module_is_a_function_of_what_it_imports(tmp_path: Path) -> None:
    web = write(
        tmp_path,
        main='/** What it does. */\nimport {\n  c as d,\n  f,\n} from "./c.js";\n\nf(d); // kept\n',
        c="/** One. */\nexport const c = 1;\n\n// Not seen.\nexport async function f() {}\n",
    )
    assert join_modules(web, "main.js") == (
        '"use strict";\n(() => {\n'
        "const $c = (() => { // c.js\n"
        "const c = 1;\n\nasync function f() {}\nreturn { c, f };\n})();\n"
        "const $main = (() => { // main.js\n"
        "const { c: d, f, } = $c;\n\nf(d); // kept\n})();\n"
        "})();\n"
    )


def test_circle_is_named(tmp_path: Path) -> None:
    web = write(
        tmp_path,
        main='import * as b from "./b.js";\n',
        b='import * as c from "./c.js";\n',
        c='import * as b from "./b.js";\n',
    )
    with pytest.raises(ValueError, match=r"main\.js > b\.js > c\.js > b\.js"):
        join_modules(web, "main.js")


@pytest.mark.parametrize(
    "line",
    [
        'import b from "./b.js";',
        'import "./b.js";',
        'import * as b from "b";',
        "export default 1;",
        "export let b = 1;",
        "export { b };",
        'export * from "./b.js";',
    ],
)
def test_other_forms_are_refused(tmp_path: Path, line: str) -> None:
    web = write(tmp_path, main=f"{line}\n", b="export const b = 1;\n")
    with pytest.raises(ValueError, match=r"main\.js: cannot be joined to others: (import|export)"):
        join_modules(web, "main.js")
