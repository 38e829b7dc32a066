"""Models with a known distribution over all texts: the oracle of the synthetic study and its Pareto optima."""
