"""Numbers of candidates, references and examples that a test needs."""
