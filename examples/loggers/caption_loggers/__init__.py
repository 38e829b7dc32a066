"""Results of runs in Weights & Biases, MLflow, TensorBoard and trackio, by hooks."""
