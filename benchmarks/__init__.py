"""Side-by-side measurements against the peers, one file per question."""
