"""Random walks on the samples of a Gram: the parts that the kernel rankings are made of.

``walk.py`` reads a Gram as a Markov chain and solves for exact scores; ``components.py`` decomposes it; ``low_rank.py``
scores by a few eigenvectors and ``extension.py`` places new samples under them, for KernelPageRank;
``joint_embedding.py`` and ``cluster_rankings.py`` are the embedding and the scores of RankedClustering;
``estimator.py`` is the base of both estimators. Only :mod:`gramian.ranking` imports from here.
"""
