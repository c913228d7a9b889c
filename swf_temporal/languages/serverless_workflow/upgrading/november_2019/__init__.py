"""From the draft of November 2019, and from the texts after it until the end of that year."""
