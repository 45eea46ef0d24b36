"""The choice of a similarity, a number of clusters and a clustering for a table, with nothing to tune."""
