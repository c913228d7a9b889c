"""What lies beneath an exception?"""

from collections.abc import Iterator


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what lies beneath *error*; connecting to a name with several addresses fails as a group."""
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield member
            yield from causes(member)
    beneath = error.__cause__ or error.__context__
    if beneath is not None:
        yield beneath
        yield from causes(beneath)
