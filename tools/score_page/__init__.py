"""The page that scores captions in a browser: one file, built from the JavaScript
package of the kernels and its WebAssembly module.
"""
