"""Models whose distribution over all texts is known: the oracle of the synthetic study, and the Pareto optima for it."""
