"""Tasks shipped with the harness: YAML files, dataset readers and the sample."""
