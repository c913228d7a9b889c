"""Tells whether what stands in the place of a number is one."""


def number(value: float | str | None) -> float | None:
    """Return *value* as a number, 0 if there is none or an expression will say it, or None."""
    if value is None:
        return 0
    if is_open(value):
        return 0
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if abs(value) < float("inf") else None


def is_open(value: float | str | None) -> bool:
    return isinstance(value, str) and "${" in value
