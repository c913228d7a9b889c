"""The command `swf`, for those who call it by its package."""

from swf_temporal.cli.main import main

main()
