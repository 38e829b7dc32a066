"""Specs: YAML files and mappings in, validated :class:`~harness.spec.models.Spec` objects with places for error messages out."""
