"""Files that parts are read from: Parquet, tables of molecules, TU data sets.

Each format is a module with ``survey`` (cut a file into pieces), ``digest`` (hash of a part's bytes as they
are now) and ``read`` (the graphs of a part, block by block); ``reading`` knows them by name.
"""
