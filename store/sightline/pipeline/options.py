"""Says what each program of a query may be given, in tables of options and operands, and why others are refused.

An option that is not listed is refused. ``short`` is written as for getopt: ``n:`` takes a value, ``w::`` one that is
attached or absent. In ``long``, a plain name is a flag, ``name=`` takes a value,
``name==`` two of them, ``name[=]`` one that is attached or absent. Help, version and what only makes sense on a
terminal are left out.
"""

from sightline.light.named_tuple import NamedTuple


class Grammar(NamedTuple):
    """How a program reads its arguments.

    Attributes:
        short: its short options.
        long: its long options.
        texts: number of first operands that are text (a pattern, a script, sets), not files.
        spare_texts: number of further ones that may follow.
        files: most files that it may read; ``least_files`` is the fewest.
        least_files: the fewest files, with ``-``; 0 if it reads the pipe by itself.
        pattern_options: options that replace the first text operand.
        file_options: options whose value is a file.
        number: whether ``-5`` is an option (a number of lines, or a width).
        permutes: whether options may follow operands.
        single_dash: whether long options have one dash, and short ones are never joined.
        assigns: whether ``name=value`` among the operands is an assignment.
    """

    short: str = ""
    long: str = ""
    texts: int = 0
    spare_texts: int = 0
    files: int = 1000
    least_files: int = 0
    pattern_options: tuple[str, ...] = ()
    file_options: tuple[str, ...] = ()
    number: bool = False
    permutes: bool = True
    single_dash: bool = False
    assigns: bool = False


_GREP = Grammar(
    short="EFGPe:f:ivwxyzsm:bnHhoqaIlLcTZUA:B:C:0123456789",
    long="extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case no-ignore-case "
    "invert-match word-regexp line-regexp null-data no-messages max-count= byte-offset line-number line-buffered "
    "with-filename no-filename label= only-matching quiet silent binary-files= text files-with-matches "
    "files-without-match count initial-tab null after-context= before-context= context= group-separator= "
    "no-group-separator color[=] colour[=] binary",
    texts=1,
    pattern_options=("-e", "--regexp", "-f", "--file"),
    file_options=("-f", "--file"),
)

_RG = Grammar(
    short="A:B:C:bcE:e:Ff:HhIilM:m:NnoPqr:sSUvwxa0",
    long="after-context= before-context= context= byte-offset count count-matches encoding= regexp= fixed-strings "
    "file= with-filename no-filename ignore-case files-with-matches files-without-match max-columns= "
    "max-columns-preview max-count= no-line-number line-number only-matching pcre2 quiet replace= case-sensitive "
    "smart-case multiline multiline-dotall invert-match word-regexp line-regexp text null null-data color= colors= "
    "column context-separator= field-context-separator= field-match-separator= crlf heading no-heading json "
    "no-json passthru trim stats vimgrep include-zero binary no-unicode no-pcre2-unicode no-messages "
    "line-buffered block-buffered engine= auto-hybrid-regex no-config no-mmap",
    texts=1,
    pattern_options=("-e", "--regexp", "-f", "--file"),
    file_options=("-f", "--file"),
)

GRAMMARS = {
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RG._replace(short=_RG.short.replace("h", "")),  # its -h is help
    "sed": Grammar(
        short="ne:l:Ersuz",
        long="quiet silent expression= line-length= regexp-extended separate unbuffered null-data sandbox",
        texts=1,
        pattern_options=("-e", "--expression"),
    ),
    "awk": Grammar(
        short="F:v:bnrS",
        long="field-separator= assign= characters-as-bytes non-decimal-data re-interval sandbox",
        texts=1,
        permutes=False,
        assigns=True,
    ),
    "head": Grammar("c:n:qvz", "bytes= lines= quiet silent verbose zero-terminated", number=True),
    "tail": Grammar("c:n:qvz", "bytes= lines= quiet silent verbose zero-terminated", number=True),
    "cut": Grammar(
        "b:c:d:f:nsz",
        "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
    ),
    "wc": Grammar("cmlLw", "bytes chars lines max-line-length words total="),
    "sort": Grammar(
        "bdfgiMhnRrVcCk:mst:uz",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort "
        "human-numeric-sort numeric-sort random-sort reverse sort= version-sort check[=] debug key= merge stable "
        "field-separator= unique zero-terminated",
    ),
    "uniq": Grammar(
        "cdDf:is:uzw:",
        "count repeated all-repeated[=] skip-fields= group[=] ignore-case skip-chars= unique zero-terminated "
        "check-chars=",
        files=1,
    ),
    "tr": Grammar("cCdst", "complement delete squeeze-repeats truncate-set1", texts=1, spare_texts=1, files=0),
    "comm": Grammar(
        "123z", "check-order nocheck-order output-delimiter= total zero-terminated", files=2, least_files=2
    ),
    "diff": Grammar(
        "qscC:uU:enyW:pF:tTNiEZbwBI:aD:d",
        "normal brief report-identical-files context[=] unified[=] ed rcs side-by-side width= left-column "
        "suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= "
        "suppress-blank-empty new-file ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change "
        "ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr ifdef= "
        "old-group-format= new-group-format= unchanged-group-format= changed-group-format= line-format= "
        "old-line-format= new-line-format= unchanged-line-format= minimal horizon-lines= speed-large-files color[=]",
        files=2,
        least_files=2,
    ),
    "cmp": Grammar(
        "bi:ln:s", "print-bytes ignore-initial= verbose bytes= quiet silent", files=2, least_files=1
    ),
    "join": Grammar(
        "a:e:ij:o:t:v:1:2:z", "ignore-case check-order nocheck-order header zero-terminated", files=2, least_files=2
    ),
    "paste": Grammar("d:sz", "delimiters= serial zero-terminated"),
    "nl": Grammar(
        "b:d:f:h:i:l:n:ps:v:w:",
        "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= "
        "number-format= no-renumber number-separator= starting-line-number= number-width=",
    ),
    "tac": Grammar("brs:", "before regex separator="),
    "rev": Grammar(),
    "fold": Grammar("bsw:", "bytes spaces width=", number=True),
    "fmt": Grammar(
        "cstuw:", "crown-margin split-only tagged-paragraph uniform-spacing width=", number=True
    ),
    "column": Grammar(
        "tn:O:N:l:E:deH:R:T:W:LJr:i:p:c:o:s:x",
        "table table-name= table-order= table-columns= table-columns-limit= table-noextreme= table-noheadings "
        "table-header-repeat table-hide= table-right= table-truncate= table-wrap= keep-empty-lines json tree= "
        "tree-id= tree-parent= output-width= output-separator= separator= fillrows",
    ),
    "jq": Grammar(
        "cnesrRSCMaj",
        "compact-output null-input exit-status slurp raw-output raw-input sort-keys color-output monochrome-output "
        "ascii-output join-output raw-output0 tab indent= seq stream stream-errors unbuffered arg== argjson==",
        texts=1,
    ),
    "cat": Grammar(
        "AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
    ),
    "strings": Grammar(
        "adfn:t:wU:e:os:", "all data print-file-name bytes= radix= include-all-whitespace encoding= unicode= "
        "output-separator=", number=True
    ),
    "xxd": Grammar(
        "abCEeipruds:l:c:g:o:n:",
        "ps plain postscript autoskip bits capitalize uppercase include revert decimal seek= len= cols= groupsize=",
        files=1,
        single_dash=True,
    ),
    "od": Grammar(
        "A:j:N:S:t:vw::abcdfilosx",
        "address-radix= endian= skip-bytes= read-bytes= strings[=] format= output-duplicates width[=]",
    ),
}  # fmt: skip
"""Every program that a query may use."""

NUMERIC = {
    "grep": {"-A", "-B", "-C", "-m", "--after-context", "--before-context", "--context", "--max-count"},
    "rg": {"-A", "-B", "-C", "-m", "-M", "--after-context", "--before-context", "--context", "--max-count"},
    "fmt": {"-w", "--width"},
    "fold": {"-w", "--width"},
}
"""Options whose value must be a number: some systems' programs do not take a value here, and would read it as a pattern
or a file."""

WIDEST = 65_536
"""Most columns that a program may make of a line; no reply shows as many."""

WIDTHS = {
    "nl": {"-w", "--number-width"},
    "od": {"-w", "--width"},
    "column": {"-c", "--output-width"},
    "fmt": {"-w", "--width", "-NUM"},
    "diff": {"-W", "--width", "--tabsize"},
}
"""Options for that: a single large number would take all the memory, and fill gigabytes with blanks."""

_WRITES = "it writes a file"
_RUNS = "it runs a program"
_WALKS = "it walks folders"
_FILE = "it reads a file that is no ref"
_SCRIPT = "it reads a script from a file; write the script in the query"
_FOLLOWS = "a query ends; follow a running capture with read_output(ref, wait=20)"
_BUFFER = "the query sets its buffer and its threads"

WHY_NOT = {
    "grep": {"-r": _WALKS, "-R": _WALKS, "--recursive": _WALKS, "--dereference-recursive": _WALKS, "-d": _WALKS,
             "--directories": _WALKS, "-D": _FILE, "--devices": _FILE, "--include": _WALKS, "--exclude": _WALKS,
             "--exclude-dir": _WALKS, "--exclude-from": _FILE},
    "rg": {"--pre": _RUNS, "--pre-glob": _RUNS, "--hostname-bin": _RUNS, "--hyperlink-format": _RUNS,
           "-z": _RUNS, "--search-zip": _RUNS, "--files": _WALKS, "-g": _WALKS, "--glob": _WALKS,
           "--iglob": _WALKS, "-L": _WALKS, "--follow": _WALKS, "-u": _WALKS, "--unrestricted": _WALKS,
           "-.": _WALKS, "--hidden": _WALKS, "-t": _WALKS, "--type": _WALKS, "-T": _WALKS, "--type-not": _WALKS,
           "--ignore-file": _FILE, "--mmap": "it can be killed by a buffer that changes", "-j": _BUFFER,
           "--threads": _BUFFER, "--debug": "it tells of files that are no refs", "--trace":
           "it tells of files that are no refs"},
    "sed": {"-i": _WRITES, "--in-place": _WRITES, "-f": _SCRIPT, "--file": _SCRIPT, "--follow-symlinks": _WRITES},
    "awk": {"-f": _SCRIPT, "--file": _SCRIPT, "-E": _SCRIPT, "--exec": _SCRIPT, "-i": _SCRIPT, "--include": _SCRIPT,
            "-l": _RUNS, "--load": _RUNS, "-o": _WRITES, "--pretty-print": _WRITES, "-p": _WRITES,
            "--profile": _WRITES, "-d": _WRITES, "--dump-variables": _WRITES, "-D": _RUNS, "--debug": _RUNS,
            "-W": "write options in their usual form", "-e": "write the program as the first operand",
            "--source": "write the program as the first operand"},
    "sort": {"-o": _WRITES, "--output": _WRITES, "-T": _WRITES, "--temporary-directory": _WRITES,
             "--compress-program": _RUNS, "--files0-from": _FILE, "--random-source": _FILE, "-S": _BUFFER,
             "--buffer-size": _BUFFER, "--parallel": _BUFFER, "--batch-size": _BUFFER},
    "wc": {"--files0-from": _FILE},
    "tail": {"-f": _FOLLOWS, "-F": _FOLLOWS, "--follow": _FOLLOWS, "--retry": _FOLLOWS, "--pid": _FOLLOWS,
             "-s": _FOLLOWS, "--sleep-interval": _FOLLOWS},
    "diff": {"-r": _WALKS, "--recursive": _WALKS, "--from-file": _FILE, "--to-file": _FILE, "-X": _FILE,
             "--exclude-from": _FILE, "-x": _WALKS, "--exclude": _WALKS, "-S": _WALKS, "--starting-file": _WALKS,
             "-l": _RUNS, "--paginate": _RUNS},
    "jq": {"-f": _SCRIPT, "--from-file": _SCRIPT, "-L": _SCRIPT, "--library-path": _SCRIPT, "--rawfile": _FILE,
           "--slurpfile": _FILE, "--argfile": _FILE, "--args": "give values with --arg name value",
           "--jsonargs": "give values with --argjson name value"},
    "fmt": {"-p": "not every system's fmt means a prefix by it", "-g": "not every system's fmt knows it"},
    "strings": {"-T": "only plain bytes are read", "--target": "only plain bytes are read"},
}  # fmt: skip
"""Why an option that people do use is refused; one without a reason here is just not among the allowed ones."""
