"""From the draft of May 2020, in either spelling, and from its texts of early 2020."""
