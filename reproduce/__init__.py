"""Published tables and figures, computed again: one file each, published and our numbers side by side."""
