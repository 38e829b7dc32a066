"""The choice between the compiled extension and the reference engine."""
