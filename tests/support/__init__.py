"""Helpers of several tests: small models, servers on the loopback interface,
media files.
"""
