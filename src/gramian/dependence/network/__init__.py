"""Layer-wise kernel dependence networks (KDN): classifiers without back-propagation."""
