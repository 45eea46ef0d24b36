"""Random walks on graphs: personalized PageRank and its solvers, Markov chains, electric resistance."""
