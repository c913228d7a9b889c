"""The error of a text of a schedule that cannot be read."""


class Unreadable(ValueError):  # noqa: N818 - an adjective, said of a text
    """A text that says no time, and where in it the trouble begins.

    `offset` counts characters from zero. `hint` shows a text that would do.
    """

    def __init__(self, message: str, offset: int = 0, hint: str | None = None) -> None:
        self.message = message
        self.offset = offset
        self.hint = hint
        super().__init__(message)
