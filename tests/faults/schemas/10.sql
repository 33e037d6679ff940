-- The index's tables as version 10 of them was made.
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
CREATE TABLE logs (session TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;

CREATE INDEX buffers_evictable ON buffers (used) WHERE state IN ('sealed', 'interrupted') AND NOT pinned;

ALTER TABLE buffers ADD COLUMN partial TEXT NOT NULL DEFAULT '';
ALTER TABLE buffers ADD COLUMN gaps TEXT NOT NULL DEFAULT '[]';
ALTER TABLE buffers ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE buffers ADD COLUMN seals TEXT NOT NULL DEFAULT '';

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
CREATE TRIGGER verdict_added AFTER INSERT ON buffers BEGIN 
    DELETE FROM verdicts WHERE buffer = NEW.name;
    INSERT INTO verdicts (buffer, judged, session, project, cwd, created)
        VALUES (NEW.name, CASE NEW.state WHEN 'running' THEN '~' ELSE '?' || hex(randomblob(8)) END,
            NEW.session, NEW.project, NEW.cwd, NEW.created);
    UPDATE verdicts SET judged = '?' || hex(randomblob(8)) -- a run counts for those before it
        WHERE session = NEW.session AND (failures > 0 OR flags & 2 <> 0) AND judged > '@' AND judged <> '~'
        AND (SELECT command FROM buffers WHERE name = verdicts.buffer) = NEW.command;
 END;
CREATE TRIGGER verdict_changed AFTER UPDATE OF state, session, project, cwd, created, ended, exit_code, timed_out, note, command, streams, partial, seals ON buffers
WHEN (OLD.state, OLD.session, OLD.project, OLD.cwd, OLD.created, OLD.ended, OLD.exit_code, OLD.timed_out, OLD.note, OLD.command, OLD.streams, OLD.partial, OLD.seals) IS NOT (NEW.state, NEW.session, NEW.project, NEW.cwd, NEW.created, NEW.ended, NEW.exit_code, NEW.timed_out, NEW.note, NEW.command, NEW.streams, NEW.partial, NEW.seals) BEGIN 
    DELETE FROM verdicts WHERE buffer = NEW.name;
    INSERT INTO verdicts (buffer, judged, session, project, cwd, created)
        VALUES (NEW.name, CASE NEW.state WHEN 'running' THEN '~' ELSE '?' || hex(randomblob(8)) END,
            NEW.session, NEW.project, NEW.cwd, NEW.created);
    UPDATE verdicts SET judged = '?' || hex(randomblob(8)) -- a run counts for those before it
        WHERE session = NEW.session AND (failures > 0 OR flags & 2 <> 0) AND judged > '@' AND judged <> '~'
        AND (SELECT command FROM buffers WHERE name = verdicts.buffer) = NEW.command;
 END;
CREATE TRIGGER verdict_removed AFTER DELETE ON buffers BEGIN
    UPDATE verdicts SET judged = '?' || hex(randomblob(8))
        WHERE session = OLD.session AND (failures > 0 OR flags & 2 <> 0) AND judged > '@' AND judged <> '~'
        AND (SELECT command FROM buffers WHERE name = verdicts.buffer) = OLD.command;
    DELETE FROM verdicts WHERE buffer = OLD.name;
    INSERT INTO verdicts (buffer, judged) SELECT OLD.name, '?' || hex(randomblob(8))
        WHERE EXISTS (SELECT 1 FROM views_of WHERE buffer = OLD.name);
END;
CREATE TRIGGER verdict_seen AFTER INSERT ON views_of BEGIN
    INSERT INTO verdicts (buffer, judged) SELECT NEW.buffer, '?' || hex(randomblob(8))
        WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE buffer = NEW.buffer);
    UPDATE verdicts SET judged = '?' || hex(randomblob(8)) WHERE judged <> '~' AND (
        buffer = NEW.buffer OR buffer IN (SELECT name FROM buffers WHERE origin = NEW.buffer AND origin <> '')
    );
END;
CREATE INDEX verdicts_failing ON verdicts (session) WHERE (failures > 0 OR flags & 2 <> 0);
CREATE INDEX verdicts_missed ON verdicts (session, created) WHERE flags & 20 <> 0;
CREATE TRIGGER verdict_quoted AFTER INSERT ON views BEGIN
    UPDATE verdicts SET judged = '?' || hex(randomblob(8))
        WHERE session = NEW.session AND created BETWEEN NEW.time - 3600 AND NEW.time
        AND flags & 20 <> 0 AND judged <> '~' AND judged > '@';
END;
CREATE TRIGGER verdict_amended AFTER UPDATE OF record ON views BEGIN
    UPDATE verdicts SET judged = '?' || hex(randomblob(8)) WHERE judged <> '~' AND buffer IN (
        SELECT buffer FROM views_of WHERE view = NEW.number
        UNION SELECT name FROM buffers WHERE origin <> '' AND origin IN (
            SELECT buffer FROM views_of WHERE view = NEW.number
        )
    );
END;
CREATE TRIGGER reply_added AFTER INSERT ON views WHEN json_valid(NEW.record) BEGIN
    INSERT INTO replies 
    SELECT number, session, time, json_extract(record, '$.bytes_shown'), json_extract(record, '$.truncated'),
        COALESCE(json_extract(record, '$.refs[0]'), '') FROM views
 WHERE number = NEW.number;
END;
CREATE TRIGGER reply_removed AFTER DELETE ON views BEGIN
    DELETE FROM replies WHERE view = OLD.number;
END;

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
ALTER TABLE session_verdicts ADD COLUMN evidence TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 10;
