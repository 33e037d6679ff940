"""The two themes: dark, and light."""

from textual.theme import Theme

DARK = Theme(
    name="sightline-dark",
    primary="#5cc8d7",
    secondary="#9db4d0",
    accent="#f2b65a",
    foreground="#d7dde5",
    background="#10151c",
    surface="#171e27",
    panel="#222c38",
    success="#8ccf7e",
    warning="#e5c76b",
    error="#ef7e83",
    dark=True,
)

LIGHT = Theme(
    name="sightline-light",
    primary="#0b7285",
    secondary="#3b5b82",
    accent="#a85b00",
    foreground="#1f2933",
    background="#fbfcfd",
    surface="#eff2f5",
    panel="#dfe5eb",
    success="#2b7a2b",
    warning="#8a6100",
    error="#b3262e",
    dark=False,
)
