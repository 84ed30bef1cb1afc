#!/usr/bin/env bash
# Make sure that a Chromium for the browser tests is there: install Debian's where that is
# allowed, else say in one sentence what to do. It exits 0 either way: without one pytest
# deselects the browser tests, and fails them where GVIZ_REQUIRE_BROWSER=1.
set -euo pipefail

browser() {
    local name
    # Started, not only found: Ubuntu's chromium-browser may be a stub that asks for snap.
    for name in ${GVIZ_CHROMIUM:-} chromium-headless-shell chromium chromium-browser \
        google-chrome google-chrome-stable; do
        if command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1; then
            return 0
        fi
    done
    return 1
}

browser && exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    as_root="sudo -n"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if command -v apt-get >/dev/null && { [ -z "$as_root" ] || $as_root true 2>/dev/null; } &&
    ! grep -q '^ID=ubuntu' /etc/os-release; then
    echo "installing Chromium for the browser tests (apt-get install chromium-headless-shell)"
    install() {
        DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends \
            "$1" fonts-dejavu-core
    }
    # Older releases have it with its windows only.
    { $as_root apt-get update -qq && { install chromium-headless-shell || install chromium; }; } \
        >"$log" 2>&1 || tail -n 5 "$log" >&2
fi
browser && exit 0

echo "There is no Chromium for the browser tests: install chromium (Debian: apt-get install" \
    "chromium) or Google Chrome (Ubuntu, whose chromium package is a snap), or name one in" \
    "GVIZ_CHROMIUM." >&2
