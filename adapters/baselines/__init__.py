"""Stand-ins for models, built from references: what a metric should and should not prefer."""
