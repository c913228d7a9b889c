"""The command line: `swf`. The only floor that joins its neighbours."""
