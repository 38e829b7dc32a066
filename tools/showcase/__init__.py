"""The pictures and pages of the README, the site and the gallery,
made by the commands of the harness.
"""
