"""What do the functions of a scenario reach that are really called? Services that the scenario describes."""
