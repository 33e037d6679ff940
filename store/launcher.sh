#!/bin/sh
''':'
# The command `sightline`. The script that pip 23 would write begins with `import re`, which takes half as long as starting Python;
# and pip breaks a shipped `#!python` where the path of the environment has a blank or is long. So /bin/sh finds the interpreter.
place=$0
while [ -h "$place" ]; do # as pipx and uv put it on the path
    link=$(readlink -- "$place")
    case $link in /*) place=$link ;; *) place=${place%/*}/$link ;; esac
done
case $place in */*) folder=${place%/*} ;; *) folder=. ;; esac
[ -f "$folder/../pyvenv.cfg" ] && exec "$folder/python" "$place" "$@"
for installed in "$folder"/../lib/python*/*-packages/sightline_inspector-*.dist-info; do # of a system, or of one person
    version=${installed#"$folder"/../lib/}
    version=${version%%/*}
    [ "$version" = python ] && version=$(cd "$folder/.." && echo "python${PWD##*/}") # macOS: Library/Python/3.12/lib/python
    [ -x "$folder/$version" ] && exec "$folder/$version" "$place" "$@"
    command -v "$version" >/dev/null && exec "$version" "$place" "$@"
done
exec python3 "$place" "$@"
'''
from sightline.doors.cli.main import main

main()
