"""The look shared by all pages: Mantine's theme, and the grid's theme over the same variables."""

from __future__ import annotations

from typing import Any

SANS = "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MONO = "ui-monospace, 'JetBrains Mono', 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

MANTINE_THEME: dict[str, Any] = {
    "fontFamily": SANS,
    "fontFamilyMonospace": MONO,
    "primaryColor": "teal",
    "primaryShade": {"light": 7, "dark": 5},
    "defaultRadius": "sm",
    # Mantine's own dark greys are neutral; these match the pages' panels (page.css).
    "colors": {
        "dark": [
            "#c9d1da",
            "#b3bdc8",
            "#8b97a5",
            "#697584",
            "#3a444f",
            "#2f3843",
            "#1c232c",
            "#151a21",
            "#10151b",
            "#0d1116",
        ]
    },
    "cursorType": "pointer",
    "focusRing": "auto",
    "respectReducedMotion": True,
}

#: AG Grid takes CSS variables as parameters, so dark and light need no second theme.
GRID_THEME = {
    "function": (
        "themeQuartz.withParams({"
        "fontFamily: 'var(--gv-sans)', fontSize: 13, headerFontSize: 12, headerFontWeight: 600,"
        "rowHeight: 30, headerHeight: 34, spacing: 6, cellHorizontalPadding: 10,"
        "backgroundColor: 'var(--gv-panel)', foregroundColor: 'var(--gv-text)',"
        "headerBackgroundColor: 'var(--gv-panel)', headerTextColor: 'var(--gv-muted)',"
        "borderColor: 'var(--gv-line)', oddRowBackgroundColor: 'var(--gv-panel)',"
        "rowHoverColor: 'var(--gv-hover)', selectedRowBackgroundColor: 'var(--gv-selected)',"
        "accentColor: 'var(--gv-accent)', browserColorScheme: 'inherit',"
        "wrapperBorder: false, wrapperBorderRadius: 0, menuBackgroundColor: 'var(--gv-panel)'"
        "})"
    )
}
