"""Kernel dependence networks (KDN): classifiers trained layer by layer, without back-propagation."""

from gramian.dependence.network.class_average import ClassAverageChain, two_layer_widths
from gramian.dependence.network.dependence_network import DependenceNetwork
from gramian.dependence.network.label_bandwidth import label_width

__all__ = ["ClassAverageChain", "DependenceNetwork", "label_width", "two_layer_widths"]
