"""The index's tables, and the steps from each released version of them to the next.

An older version goes on using an index that a newer one has migrated. So a step only adds tables, indexes, and columns
with a default; triggers keep their meaning. Any other change needs a file of another name.
"""

VERSION = 11
TRIGGERS = 10

CREATE = """
CREATE TABLE buffers (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    session TEXT NOT NULL,
    created REAL NOT NULL,
    ended REAL,
    accessed REAL NOT NULL,
    exit_code INTEGER,
    signal INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    label TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    artifact TEXT NOT NULL,
    note TEXT NOT NULL,
    origin TEXT NOT NULL,
    streams TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    used INTEGER NOT NULL
);
CREATE UNIQUE INDEX buffers_by_use ON buffers (used DESC);
CREATE INDEX buffers_by_session ON buffers (session, kind, number DESC);
CREATE INDEX buffers_running ON buffers (name) WHERE state = 'running';
CREATE INDEX buffers_by_artifact ON buffers (artifact) WHERE artifact <> '';
CREATE INDEX buffers_files ON buffers (command, number DESC) WHERE kind = 'file';

CREATE TABLE hashes (
    sha256 TEXT NOT NULL,
    buffer TEXT NOT NULL,
    stream TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (sha256, buffer, stream)
) WITHOUT ROWID;
CREATE INDEX hashes_by_buffer ON hashes (buffer);

CREATE TABLE totals (buffers INTEGER NOT NULL, bytes INTEGER NOT NULL, views_stale INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 2); -- what the folders and the logs hold is not in it yet
CREATE TRIGGER buffer_added AFTER INSERT ON buffers WHEN NEW.state <> 'evicted' BEGIN
    UPDATE totals SET buffers = buffers + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER buffer_removed AFTER DELETE ON buffers WHEN OLD.state <> 'evicted' BEGIN
    UPDATE totals SET buffers = buffers - 1, bytes = bytes - OLD.bytes;
END;
CREATE TRIGGER buffer_changed AFTER UPDATE OF state, bytes ON buffers BEGIN
    UPDATE totals SET
        buffers = buffers - (OLD.state <> 'evicted') + (NEW.state <> 'evicted'),
        bytes = bytes - (OLD.state <> 'evicted') * OLD.bytes + (NEW.state <> 'evicted') * NEW.bytes;
END;

CREATE TABLE views (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    entry INTEGER NOT NULL,
    time REAL NOT NULL,
    verb TEXT NOT NULL,
    record TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    UNIQUE (session, entry)
);
CREATE TABLE views_of (buffer TEXT NOT NULL, view INTEGER NOT NULL, PRIMARY KEY (buffer, view)) WITHOUT ROWID;
CREATE INDEX views_of_view ON views_of (view);

CREATE TABLE sessions (
    name TEXT PRIMARY KEY,
    harness TEXT NOT NULL,
    harness_id TEXT NOT NULL,
    client TEXT NOT NULL,
    cwd TEXT NOT NULL,
    started REAL NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    removed REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE acks (
    token TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    session TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID;
"""

_AUDIT = """
CREATE TABLE notes (
    session TEXT NOT NULL,
    entry INTEGER NOT NULL,
    buffer TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (session, entry)
) WITHOUT ROWID;
CREATE INDEX notes_by_buffer ON notes (buffer);

CREATE TABLE derived (
    buffer TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (buffer, key)
) WITHOUT ROWID;
"""

_LOGS = "CREATE TABLE logs (session TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;\n"
"""The byte up to which each session's audit file has been indexed."""

_EVICTABLE = """
CREATE INDEX buffers_evictable ON buffers (used) WHERE state IN ('sealed', 'interrupted') AND NOT pinned;
"""

_PARTIAL = """
ALTER TABLE buffers ADD COLUMN partial TEXT NOT NULL DEFAULT '';
ALTER TABLE buffers ADD COLUMN gaps TEXT NOT NULL DEFAULT '[]';
"""

_PROJECT = "ALTER TABLE buffers ADD COLUMN project TEXT NOT NULL DEFAULT '';\n"
"""The project is empty for captures of versions that did not record it."""

_SEALS = "ALTER TABLE buffers ADD COLUMN seals TEXT NOT NULL DEFAULT '';\n"
"""0.2.0 replaces what it knows of a row, and leaves this column as it is."""

_FACTS = "state, session, project, cwd, created, ended, exit_code, timed_out, note, command, streams, partial, seals"


def _row_values(which: str) -> str:
    return ", ".join(f"{which}.{column}" for column in _FACTS.split(", "))


_IN_DOUBT = "'?' || hex(randomblob(8))"
_MISSED = 20  # the flags UNSEEN and CUT of `audit.output_facts`: what was missed may stand in any later reply
_QUOTED_SECONDS = 3600  # between an output and a reply that quotes it
# The conflict policy of a statement would replace that of its trigger, so nothing here relies on one.
_FAILING = "(failures > 0 OR flags & 2 <> 0)"  # the second is the flag FAILED of `audit.output_facts`
_NEW_VERDICT = f"""
    DELETE FROM verdicts WHERE buffer = NEW.name;
    INSERT INTO verdicts (buffer, judged, session, project, cwd, created)
        VALUES (NEW.name, CASE NEW.state WHEN 'running' THEN '~' ELSE {_IN_DOUBT} END,
            NEW.session, NEW.project, NEW.cwd, NEW.created);
    UPDATE verdicts SET judged = {_IN_DOUBT} -- a run counts for those before it
        WHERE session = NEW.session AND {_FAILING} AND judged > '@' AND judged <> '~'
        AND (SELECT command FROM buffers WHERE name = verdicts.buffer) = NEW.command;
"""  # noqa: S608 - names of ours
_REPLY = """
    SELECT number, session, time, json_extract(record, '$.bytes_shown'), json_extract(record, '$.truncated'),
        COALESCE(json_extract(record, '$.refs[0]'), '') FROM views
"""

_VERDICTS = f"""
CREATE TABLE verdicts (
    buffer TEXT PRIMARY KEY,
    judged TEXT NOT NULL,
    session TEXT NOT NULL DEFAULT '',
    project TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL DEFAULT 0,
    flags INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    unseen INTEGER NOT NULL DEFAULT 0,
    lines INTEGER NOT NULL DEFAULT 0,
    seen REAL NOT NULL DEFAULT 0,
    again INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX verdicts_judged ON verdicts (judged, flags, failures, unseen, lines, seen);
CREATE TABLE session_verdicts (
    session TEXT PRIMARY KEY,
    judged TEXT NOT NULL,
    record TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE replies (
    view INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    time REAL NOT NULL,
    bytes INTEGER NOT NULL,
    cut INTEGER NOT NULL,
    buffer TEXT NOT NULL
);
CREATE INDEX buffers_by_origin ON buffers (origin) WHERE origin <> '';
CREATE INDEX buffers_by_command ON buffers (session, substr(command, 1, 64));
CREATE TRIGGER verdict_added AFTER INSERT ON buffers BEGIN {_NEW_VERDICT} END;
CREATE TRIGGER verdict_changed AFTER UPDATE OF {_FACTS} ON buffers
WHEN ({_row_values("OLD")}) IS NOT ({_row_values("NEW")}) BEGIN {_NEW_VERDICT} END;
CREATE TRIGGER verdict_removed AFTER DELETE ON buffers BEGIN
    UPDATE verdicts SET judged = {_IN_DOUBT}
        WHERE session = OLD.session AND {_FAILING} AND judged > '@' AND judged <> '~'
        AND (SELECT command FROM buffers WHERE name = verdicts.buffer) = OLD.command;
    DELETE FROM verdicts WHERE buffer = OLD.name;
    INSERT INTO verdicts (buffer, judged) SELECT OLD.name, {_IN_DOUBT}
        WHERE EXISTS (SELECT 1 FROM views_of WHERE buffer = OLD.name);
END;
CREATE TRIGGER verdict_seen AFTER INSERT ON views_of BEGIN
    INSERT INTO verdicts (buffer, judged) SELECT NEW.buffer, {_IN_DOUBT}
        WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE buffer = NEW.buffer);
    UPDATE verdicts SET judged = {_IN_DOUBT} WHERE judged <> '~' AND (
        buffer = NEW.buffer OR buffer IN (SELECT name FROM buffers WHERE origin = NEW.buffer AND origin <> '')
    );
END;
CREATE INDEX verdicts_failing ON verdicts (session) WHERE {_FAILING};
CREATE INDEX verdicts_missed ON verdicts (session, created) WHERE flags & {_MISSED} <> 0;
CREATE TRIGGER verdict_quoted AFTER INSERT ON views BEGIN
    UPDATE verdicts SET judged = {_IN_DOUBT}
        WHERE session = NEW.session AND created BETWEEN NEW.time - {_QUOTED_SECONDS} AND NEW.time
        AND flags & {_MISSED} <> 0 AND judged <> '~' AND judged > '@';
END;
CREATE TRIGGER verdict_amended AFTER UPDATE OF record ON views BEGIN
    UPDATE verdicts SET judged = {_IN_DOUBT} WHERE judged <> '~' AND buffer IN (
        SELECT buffer FROM views_of WHERE view = NEW.number
        UNION SELECT name FROM buffers WHERE origin <> '' AND origin IN (
            SELECT buffer FROM views_of WHERE view = NEW.number
        )
    );
END;
CREATE TRIGGER reply_added AFTER INSERT ON views WHEN json_valid(NEW.record) BEGIN
    INSERT INTO replies {_REPLY} WHERE number = NEW.number;
END;
CREATE TRIGGER reply_removed AFTER DELETE ON views BEGIN
    DELETE FROM replies WHERE view = OLD.number;
END;
"""  # noqa: S608 - names of ours
"""What is known of each output and session. A `judged` that begins with ``?`` is in doubt, ``~`` is one that runs.

An output that was removed keeps a row as long as replies are about it.
"""

_KNOWN_VERDICTS = f"""
INSERT INTO verdicts (buffer, judged, session, project, cwd, created)
    SELECT name, CASE state WHEN 'running' THEN '~' ELSE {_IN_DOUBT} END, session, project, cwd, created FROM buffers;
INSERT INTO verdicts (buffer, judged) SELECT DISTINCT buffer, {_IN_DOUBT} FROM views_of
    WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE verdicts.buffer = views_of.buffer);
INSERT INTO replies {_REPLY} WHERE json_valid(record);
"""  # noqa: S608 - names of ours

_REQUESTS = """
CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    time REAL NOT NULL,
    model TEXT,
    fresh INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    reasoning INTEGER,
    computed TEXT NOT NULL,
    at_least TEXT NOT NULL,
    tier TEXT NOT NULL,
    own_price REAL
) WITHOUT ROWID;
"""
"""The tokens of requests to models; NULL is not stated. A row without a model was blanked, and keeps its id."""

_EVIDENCE = "ALTER TABLE session_verdicts ADD COLUMN evidence TEXT NOT NULL DEFAULT '';\n"
"""All that is known of a session's claims, which a verdict does not read."""

_ORIGINS = "CREATE TABLE origins (session TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;\n"
"""From which session one came, as the entry of its log."""

_OUTPUT_PRICES = """
CREATE TABLE priced_sessions (session TEXT PRIMARY KEY, made_from TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE output_prices (
    session TEXT NOT NULL,
    output TEXT NOT NULL,
    view INTEGER NOT NULL,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    measure TEXT NOT NULL,
    requests INTEGER NOT NULL,
    carried INTEGER NOT NULL,
    dollars REAL,
    at_least INTEGER NOT NULL,
    again INTEGER NOT NULL,
    PRIMARY KEY (session, output)
) WITHOUT ROWID;
CREATE INDEX output_prices_by_output ON output_prices (output);
"""
"""What outputs cost as a part of later requests, of sessions whose logs had so many bytes then."""

CREATE += _AUDIT + _LOGS + _EVICTABLE + _PARTIAL + _PROJECT + _SEALS + _VERDICTS + _REQUESTS + _EVIDENCE
CREATE += _ORIGINS + _OUTPUT_PRICES


_TITLES = """
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN removed REAL NOT NULL DEFAULT 0;
"""

_KNOWN_LOGS = "INSERT INTO logs SELECT session, MAX(offset + length) FROM views GROUP BY session;\n"


def _in_one_line(sql: str) -> str:
    return " ".join(sql.split())


def is_ours(sql: str) -> bool:
    """Return whether a trigger, an index or a view is one of this version's, given the statement that made it."""
    return _in_one_line(sql) in _in_one_line(CREATE)


MIGRATIONS = {
    1: _TITLES + _AUDIT,
    2: _LOGS + _KNOWN_LOGS,
    3: _EVICTABLE,
    4: _PARTIAL,
    5: _PROJECT,
    6: _SEALS,
    7: _VERDICTS + _KNOWN_VERDICTS,
    8: _REQUESTS,
    9: _EVIDENCE,
    10: _ORIGINS + _OUTPUT_PRICES,
}
"""By version N, the script that leads to N + 1."""
