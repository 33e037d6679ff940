-- The index's tables as version 7 of them was made.
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
INSERT INTO totals VALUES (0, 0, 2); 
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
PRAGMA user_version = 7;
