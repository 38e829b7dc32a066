"""Statistics: arrays of numbers in, numbers and p-values out; nothing here depends on captions."""
