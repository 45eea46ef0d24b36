"""Communities of a network by kernel spectral clustering: the parts of NetworkKSC and MultilevelKSC."""
