"""What lets a process start sooner: stand-ins for parts of Python's library, and imports at first use.

Each saves processor time at each start, in hundredths of what `python -c pass` takes. It was measured by putting
Python's own in its place, in turn with the installed command and with hooks (Python 3.11; 40 times, the first five 12):

==================  ===========================  ===============================================
stand-in            commands                     hooks
==================  ===========================  ===============================================
`named_tuple`       110 to 150                   100 to 130
`toml_text`         75 to 110                    110
`typing_names`      40 to 90                     70 to 80
`json_text`         20 to 70                     50 to 60
`late_pattern`      10 to 50                     50
`library`           5 to 25                      20 to 30
`plain_signal`      25 to 30 of `run`, `query`   0
==================  ===========================  ===============================================

Outside of this room `disk.sqlite` saves 10 to 35, the reading of plain command lines without `argparse` 15 to 75,
`base.sha256` 20 to 35, and the garbage collector that is off while modules load 10 to 15.
"""
