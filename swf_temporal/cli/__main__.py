"""The command `swf`, for those who call it by its package."""

from swf_temporal.cli.entry import main

main()
