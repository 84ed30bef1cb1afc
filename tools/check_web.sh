#!/usr/bin/env bash
# check_web.sh: tsc, eslint and the unit tests of the viewer's JavaScript, every fault of all three.
# Needs node on PATH and tools/node_modules; `make check-web` sees to both.
set -uo pipefail
cd "$(dirname "$0")/.."
bin=tools/node_modules/.bin
status=0

"$bin/tsc" -p tools/tsconfig.json || status=1
"$bin/tsc" -p tools/tsconfig.tests.json || status=1
"$bin/eslint" -c tools/eslint.config.mjs --max-warnings 0 assets/web tests/web || status=1
# The modules are modules without a package.json in the wheel that says so.
node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON --test --test-reporter=dot \
    'tests/web/**/*.test.js' || status=1
[ "$status" = 0 ] && echo "web: types, style and unit tests as they should be"
exit "$status"
