"""The command `swf`, run as `python -m swf_temporal.cli`."""

from swf_temporal.cli.entry import main

main()
