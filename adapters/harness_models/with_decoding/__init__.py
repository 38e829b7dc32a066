"""Any adapter under some decoding settings of its own."""
