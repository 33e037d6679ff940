"""Ways out of a read-only query: each is refused before anything runs, naming what it is."""

from typing import Any

import pytest

from sightline.base.errors import QueryRefused
from sightline.pipeline.options import GRAMMARS, WHY_NOT
from tests.each import each

Buffers = Any

ESCAPES = r"""
cat /etc/passwd | /etc/passwd
cat @last /etc/passwd | /etc/passwd
cat @last ./x | ./x
cat @last x | 'x'
cat @last ../x | ../x
cat -- @last -n | '-n'
cat @last /proc/self/environ | /proc/self/environ
cat @last /dev/tcp/127.0.0.1/80 | /dev/tcp
grep x /etc/passwd | /etc/passwd
grep x @last /etc/passwd | /etc/passwd
grep -r x @last | -r
grep -R x @last | -R
grep -nr x @last | -r (in -nr)
grep --recursive x @last | --recursive
grep --dereference-recursive x @last | --dereference-recursive
grep --rec x @last | --rec
grep -d recurse x @last | -d
grep -drecurse x @last | -d
grep --directories=recurse x @last | --directories
grep -D read x @last | -D
grep -f /etc/passwd @last | /etc/passwd
grep -f/etc/passwd @last | /etc/passwd
grep -nf/etc/passwd @last | /etc/passwd
grep --file=/etc/passwd @last | /etc/passwd
grep --file /etc/passwd @last | /etc/passwd
grep --fil=/etc/passwd @last | --fil
grep -f - @last | `-`
grep -f@last @last | not a ref
grep --exclude-from=/etc/passwd x @last | --exclude-from
grep --include=x y @last | --include
grep -C /etc/passwd x @last | -C needs a number
grep -A/etc/passwd x @last | -A needs a number
rg --max-count=x y @last | --max-count needs a number
fmt -p /etc/passwd @last | -p
fmt -w /etc/passwd @last | -w needs a number
egrep x /etc/passwd | /etc/passwd
egrep -r x @last | -r
fgrep -f /etc/shadow @last | /etc/shadow
rg x | rg
rg x . | '.'
rg x /etc | /etc
rg --files @last | --files
rg --pre cat x @last | --pre
rg --pre=cat x @last | --pre
rg --pre-glob=x y @last | --pre-glob
rg -z x @last | -z
rg -nz x @last | -z
rg --search-zip x @last | --search-zip
rg --hostname-bin=/tmp/x x @last | --hostname-bin
rg --hyperlink-format=x y @last | --hyperlink-format
rg -f /etc/passwd @last | /etc/passwd
rg --ignore-file=/etc/passwd x @last | --ignore-file
rg --follow x @last | --follow
rg -L x @last | -L
rg -u x @last | -u
rg -g x y @last | -g
rg --debug x @last | --debug
rg --trace x @last | --trace
rg --type-list @last | --type-list
rg --mmap x @last | --mmap
rg --generate=man @last | --generate
sed -i s/a/b/ @last | -i
sed -i.bak s/a/b/ @last | -i
sed -ni s/a/b/ @last | -i (in -ni)
sed --in-place s/a/b/ @last | --in-place
sed --in-place=.bak s/a/b/ @last | --in-place
sed --in s/a/b/ @last | --in
sed -f /tmp/x @last | -f
sed --file=/tmp/x @last | --file
sed -nf @last @last | -f
sed 'w /tmp/x' @last | `w`
sed -n '1w/tmp/x' @last | `w`
sed -n '/x/w /tmp/x' @last | `w`
sed -n '/a/,/b/!w /tmp/x' @last | `w`
sed 'p;w /tmp/x' @last | `w`
sed '{p;W /tmp/x' @last | `W`
sed 'r /etc/passwd' @last | `r`
sed '1r/etc/passwd' @last | `r`
sed '$R /etc/passwd' @last | `R`
sed '\,x,r /etc/passwd' @last | `r`
sed '1e id' @last | `e`
sed e @last | `e`
sed 's/a/b/e' @last | `s///e`
sed 's/a/b/gw /tmp/x' @last | `s///w`
sed 's,a,b,2pw /tmp/x' @last | `s///w`
sed 's/a\/b/c/w x' @last | `s///w`
sed 'y/a/b/;w x' @last | `w`
sed -e p -e 'w x' @last | `w`
sed -n -e 'a\' -e 'x' -e 'w x' @last | `w`
sed --expression='w x' @last | `w`
sed 5p /etc/passwd | /etc/passwd
awk -f /tmp/x @last | -f
awk --file=/tmp/x @last | --file
awk -E /tmp/x @last | -E
awk -i inplace 1 @last | -i
awk --include=inplace 1 @last | --include
awk -l filefuncs 1 @last | -l
awk -o/tmp/x 1 @last | -o
awk --pretty-print=/tmp/x 1 @last | --pretty-print
awk -p/tmp/x 1 @last | -p
awk -d/tmp/x 1 @last | -d
awk --dump-variables=/tmp/x 1 @last | --dump-variables
awk -D 1 @last | -D
awk -W exec=/tmp/x 1 @last | -W
awk -e 1 @last | -e
awk 'BEGIN{system("id")}' @last | `system`
awk 'BEGIN{system ("id")}' @last | `system`
awk 'BEGIN { f = "system"; @f("id") } function g() { system("x") }' @last | `system`
awk '{print | "sh"}' @last | `|`
awk '{"id" | getline x}' @last | `|`
awk '{print |& "/inet/tcp/0/h/80"}' @last | `|&`
awk '{getline x < "/etc/passwd"}' @last | `getline`
awk 'BEGIN{while((getline l<"/etc/passwd")>0)print l}' @last | `getline`
awk 'BEGIN{ARGV[1]="/etc/passwd"}1' @last | `ARGV`
awk 'BEGIN{split("/etc/passwd", ARGV, ",")}1' @last | `ARGV`
awk 'BEGIN{awk::ARGV[1]="/etc/passwd"}1' @last | `ARGV`
awk 'BEGIN{split("/etc/passwd", SYMTAB["ARGV"], ",")}1' @last | `SYMTAB`
awk '{print > "/tmp/x"}' @last | `print >`
awk '{print $1, $2 >> "/tmp/x"}' @last | `print >>`
awk '{printf "%s", $1 > "/tmp/x"}' @last | `print >`
awk '{print(1) > "/tmp/x"}' @last | `print >`
awk '@include "/etc/passwd"' @last | @include
awk 'BEGIN { if (1) /"/; x = 1 } @include "/etc/passwd" #"' @last | @include
awk '@load "filefuncs"' @last | @load
awk '{print $1 /x/ 2; print > "/tmp/x"}' @last | `print >`
awk 1 /etc/passwd | /etc/passwd
awk 1 @last -v | '-v'
head /etc/passwd | /etc/passwd
head -n 5 -- /etc/passwd | /etc/passwd
tail -f @last | -f
tail -F @last | -F
tail -5f @last | -5
tail -qf @last | -f (in -qf)
tail --follow @last | --follow
tail --follow=name @last | --follow
tail --retry @last | --retry
tail --pid=1 @last | --pid
tail -s 1 @last | -s
tail +5 @last | '+5'
cut -f1 /etc/passwd | /etc/passwd
wc --files0-from=/etc/passwd @last | --files0-from
wc --files0-from=- @last | --files0-from
sort -o /tmp/x @last | -o
sort -o/tmp/x @last | -o
sort -uo/tmp/x @last | -o (in -uo/tmp/x)
sort --output=/tmp/x @last | --output
sort --outp=/tmp/x @last | --outp
sort @last -o x | -o
sort -T /tmp @last | -T
sort --temporary-directory=/tmp @last | --temporary-directory
sort --compress-program=sh @last | --compress-program
sort --compress-prog sh @last | --compress-prog
sort --files0-from=/etc/passwd @last | --files0-from
sort --random-source=/etc/passwd @last | --random-source
sort -S 9G @last | -S
sort -m @last /etc/passwd | /etc/passwd
uniq @last OUT | 'OUT'
uniq @last @cmd_a1b2c3 | more than 1 file
uniq - OUT | is the first program
cat @last | uniq - OUT | 'OUT'
tr a b @last | reads its pipe
comm @last /etc/passwd | /etc/passwd
comm @last | needs 2 files
diff @last /etc/passwd | /etc/passwd
diff -r @last @last | -r
diff --recursive @last @last | --recursive
diff --from-file=/etc/passwd @last | --from-file
diff --to-file=/etc/passwd @last | --to-file
diff -X /etc/passwd @last @last | -X
diff -S x @last @last | -S
diff -l @last @last | -l
diff --paginate @last @last | --paginate
cmp @last /etc/passwd | /etc/passwd
cmp @last @last 5 | '5'
join @last /etc/passwd | /etc/passwd
paste @last /etc/passwd | /etc/passwd
nl /etc/passwd | /etc/passwd
tac /etc/passwd | /etc/passwd
rev /etc/passwd | /etc/passwd
rev --help @last | --help
fold -w 5 /etc/passwd | /etc/passwd
fmt /etc/passwd | /etc/passwd
column /etc/passwd | /etc/passwd
jq -f /tmp/x @last | -f
jq --from-file /tmp/x @last | --from-file
jq -L /tmp . @last | -L
jq -L/tmp . @last | -L
jq --rawfile a /etc/passwd . @last | --rawfile
jq --slurpfile a /etc/passwd . @last | --slurpfile
jq --argfile a /etc/passwd . @last | --argfile
jq --args . @last | --args
jq 'import "x" as x; .' @last | `import`
jq 'include "x"; .' @last | `include`
jq 'import @text "x" as $x; .' @last | `import`
jq input_filename @last | `input_filename`
jq '"a" | modulemeta' @last | `modulemeta`
jq '"\(input_filename)"' @last | `input_filename`
jq '"a \("b \(input_filename | length)") c"' @last | `input_filename`
jq '@base64 "\(env.X)"' @last | `env`
jq '"\({a: (1 + 2), b: $ENV})"' @last | `$ENV`
jq '.a | env' @last | `env`
jq '"\(.a' @last | does not end
jq '"\("a)"' @last | does not end
nl -w 999999999 @last | 65,536 at most
nl --number-width=999999999 @last | 65,536 at most
nl -w99999999999999999999 @last | 65,536 at most
diff --side-by-side -W 1000000 @last @cmd_a1b2c3 | 65,536 at most
column -c 10000000 @last | 65,536 at most
fmt -9999999 @last | 65,536 at most
od -w1M @last | 65,536 at most
jq . /etc/passwd | /etc/passwd
strings /etc/passwd | /etc/passwd
strings @/etc/passwd | @/etc/passwd
strings -n @/etc/passwd @last | @/etc/passwd
strings -T binary @last | -T
xxd @last OUT | 'OUT'
xxd -r @last /tmp/x | /tmp/x
xxd @last @cmd_a1b2c3 | more than 1 file
xxd -ps -x @last | -x
xxd - OUT | is the first program
od /etc/passwd | /etc/passwd
od @last +10 | '+10'
od --traditional @last 0 | --traditional
sh -c id @last | sh
bash @last | bash
/bin/cat @last | /bin/cat
tee /tmp/x @last | tee
xargs cat @last | xargs
find @last | find
env cat @last | env
python3 -c 1 @last | python3
perl -e 1 @last | perl
cat @last | tee /tmp/x | tee
cat @last | xargs rm | xargs
cat @last | sh | sh
gawk 1 @last | gawk
mawk 1 @last | mawk
less @last | less
split @last | split
dd of=x @last | dd
"""
CASES = [tuple(line.rpartition(" | ")[::2]) for line in ESCAPES.strip().splitlines() if " | " in line]


def test_the_corpus_is_large_and_covers_every_program() -> None:
    assert len(CASES) >= 200
    assert {query.split()[0] for query, _ in CASES} >= GRAMMARS.keys() - {"tr"}


@each(("query", "named"), CASES)
def test_a_way_out_is_refused_by_name(buffers: Buffers, query: str, named: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        buffers.parse(query)
    assert named in refused.value.message


@each(("program", "option"), [(p, o) for p, why in WHY_NOT.items() for o in why])
def test_an_option_with_a_reason_against_it_is_refused_and_says_why(
    buffers: Buffers, program: str, option: str
) -> None:
    with pytest.raises(QueryRefused) as refused:
        buffers.parse(f"{program} {option} @last @last")
    assert refused.value.hint == WHY_NOT[program][option]
    assert f"{program} {option}" in refused.value.message


HARMLESS = r"""
grep -c 'x > y; rm -rf | $(id)' @last
grep -e '>' -e '|' @last
grep -n -A3 -B 2 -C1 -5 --context=2 --color=never x @last
grep -inE --max-count=5 'a|b' @last
grep -f @cmd_a1b2c3 @last
grep --file @cmd_a1b2c3 @last
grep -- -x @last
rg -in --max-count 3 -e x -e y @last
rg -f @cmd_a1b2c3 @last
rg -r '$1' '(x)' @last
sed -n 5,10p @last
sed -n '/a/,/b/p;$=' @last
sed 's|/usr/w|/e/w|g' @last
sed -e 's/[\/]/w/' -e 's/w/e/I' @last
sed ':a;N;$!ba;s/\n/ /g' @last
sed '/^$/d;s/x/\n/' @last
sed 'y/ew/we/' @last
sed -E 's/(w+) (e+)/\2 \1/2p' @last
sed '# w e r' @last
sed '1i\
write r w e' @last
sed '\|a|s,b,c,' @last
awk '{print $1}' @last
awk -F: -v x=/etc/passwd '$3 > 100 || $4 >= 2 {print x}' @last
awk '{n += $1 > 2; print (n > 3), "a | b > c"}' @last
awk '/foo|bar/ && !/a>b/ {print; y = x > 3}' @last
awk '{print $1 / 2, $2 / 3}' @last
awk '{ if ($1 > 5) print $1 }' @last
awk '{ for (i = NF; i > 0; i--) printf "%s ", $i; print "" }' @last
awk '{a[$1]++} END {for (k in a) print a[k], k # system
}' @last
awk 1 FS=: @last
head -5 @last
head -n -5 -q @last
tail -n +5 @last
tail -c100 @last
cut -d' ' -f1,3- @last
cut -d '|' --complement -f 2 @last
wc -lwc @last
sort -t, -k2,2nr -u @last
sort --key=1 --reverse @last | uniq -c
uniq -f1 -w 10 @last
tr -d '\r' @last
comm -12 @last @cmd_a1b2c3
comm - @last
diff -u --label a --label b @last @cmd_a1b2c3
diff -U0 @last @cmd_a1b2c3
cmp -l @last @cmd_a1b2c3
join -t, -1 2 -2 1 -o 1.1,2.2 @last @cmd_a1b2c3
paste -sd+ @last
nl -ba -w3 @last
tac -s x @last
rev @last
fold -sw 80 @last
fold -80 @last
fmt -w 72 @last
column -t -s, @last
jq '.[] | {env, import: 1, include: .include}' @last
jq -r --arg name value --argjson n 5 --indent 2 '.a' @last
jq '"include \"x\"", .env' @last
jq '"\(.env) \("(\(.a))") input_filename \\(env)", {b: 1, env}' @last
cat -A @last @cmd_a1b2c3
strings -n 8 -t x @last
xxd -s 16 -l 64 -c 8 -ps @last
xxd -r -p @last
od -A x -t x1z -v @last
od -c -w8 -N 100 @last
"""
GOOD = HARMLESS.strip().splitlines()


def _joined(lines: list[str]) -> list[str]:
    """Lines put together where a quote is open."""
    queries: list[str] = []
    for line in lines:
        if queries and queries[-1].count("'") % 2:
            queries[-1] += "\n" + line
        else:
            queries.append(line)
    return queries


@each("query", _joined(GOOD))
def test_everyday_queries_are_not_refused(buffers: Buffers, query: str) -> None:
    if query.startswith(("tr ", "comm - ")):
        query = f"cat @last | {query.removesuffix(' @last') if query.startswith('tr ') else query}"
    assert buffers.parse(query).refs
