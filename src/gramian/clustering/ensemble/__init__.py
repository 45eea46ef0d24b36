"""The parts of consensus clustering: many k-means partitions, and the evidence that their votes give."""
