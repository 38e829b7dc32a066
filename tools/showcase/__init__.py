"""What the README, the site and the gallery show of the harness,
made by its commands.
"""
