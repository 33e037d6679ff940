"""The shared database's tables, roles and policies, and the steps from each released version of them to the next.

A host's role adds rows of its own and reads its own cursor; a reader's role sees what `grants` allows. Row-level
security enforces both by ``session_user``, which no statement of theirs can change. Policies and functions compare
values; no statement here is put together from what a host has sent.
"""

SCHEMA = "sightline"
HOST_GROUP, READER_GROUP = "sightline_host", "sightline_reader"
"""Roles without login; every host's and every reader's role is a member of one."""

VERSION = 6
"""The version of the tables that `CREATE` makes."""

LEAST_WRITER = LEAST_READER = 4
"""The oldest versions that may ship to such tables, and read them: that of 0.2.0, since what came after only added."""

PARTITIONED = ("buffers", "changes", "entries")
"""Tables with a partition for each day; rows of other days stand in ``TABLE_rest``."""

_TABLES = """
CREATE SCHEMA sightline;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA sightline;

-- One row. A version below least_writer may not ship, one below least_reader may not read.
CREATE TABLE sightline.fleet (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    version integer NOT NULL,
    least_writer integer NOT NULL,
    least_reader integer NOT NULL,
    objects text NOT NULL,
    retention_days integer NOT NULL CHECK (retention_days > 0),
    made timestamptz NOT NULL DEFAULT now()
);

-- What `fleet add-host` adds: a role, under which one store ships, or for CI many.
CREATE TABLE sightline.members (
    name text PRIMARY KEY,
    role name NOT NULL UNIQUE,
    team text NOT NULL,
    owner text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('host', 'ci')),
    added timestamptz NOT NULL DEFAULT now()
);

-- One store of a member. Its cursor is here and nowhere else: no mark on the host can lie about what is shipped.
CREATE TABLE sightline.hosts (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    member text NOT NULL REFERENCES sightline.members ON UPDATE CASCADE,
    store uuid NOT NULL,
    name text NOT NULL UNIQUE,
    role name NOT NULL,
    team text NOT NULL,
    owner text NOT NULL,
    kind text NOT NULL,
    shipped_seq bigint NOT NULL DEFAULT 0,
    shipped_mark text NOT NULL DEFAULT '',
    seen timestamptz NOT NULL DEFAULT now(),
    behind jsonb NOT NULL DEFAULT '{}' CHECK (length(behind::text) < 4000),
    UNIQUE (role, store)
);

CREATE TABLE sightline.packs (
    host integer NOT NULL,
    sha256 bytea NOT NULL CHECK (length(sha256) = 32),
    day date NOT NULL,
    bytes bigint NOT NULL CHECK (bytes >= 0),
    raw_bytes bigint NOT NULL CHECK (raw_bytes >= 0),
    announced timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, sha256)
);
CREATE INDEX packs_by_time ON sightline.packs (announced);

-- frames: by stream, of each frame (place in packs from 0, offset, stored bytes, raw bytes, newlines before it).
CREATE TABLE sightline.buffers (
    host integer NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    created timestamptz NOT NULL,
    ended timestamptz,
    kind text NOT NULL,
    state text NOT NULL,
    session text NOT NULL,
    command text NOT NULL,
    cwd text NOT NULL,
    label text NOT NULL,
    exit_code integer,
    failed boolean NOT NULL,
    partial text NOT NULL,
    bytes bigint NOT NULL,
    lines bigint NOT NULL,
    record jsonb NOT NULL,
    packs bytea[] NOT NULL,
    frames jsonb NOT NULL,
    redacted integer NOT NULL,
    announced timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, created, name)
) PARTITION BY RANGE (created);
CREATE INDEX ON sightline.buffers (created);
CREATE INDEX ON sightline.buffers (name);
CREATE INDEX ON sightline.buffers (host, seq);
CREATE INDEX ON sightline.buffers USING gin (command sightline.gin_trgm_ops);

-- What became of a buffer after it was shipped: its label, pin or exit code, or that its host has it no longer.
CREATE TABLE sightline.changes (
    host integer NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    created timestamptz NOT NULL,
    digest text NOT NULL,
    record jsonb NOT NULL,
    announced timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, created, name, digest)
) PARTITION BY RANGE (created);

CREATE TABLE sightline.sessions (
    host integer NOT NULL,
    name text NOT NULL,
    started timestamptz NOT NULL,
    record jsonb NOT NULL,
    announced timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, name)
);

-- A line of a session's log: what it says beside a view's text, and where its exact bytes are: in a frame of a pack.
CREATE TABLE sightline.entries (
    host integer NOT NULL,
    seq bigint NOT NULL,
    session text NOT NULL,
    number bigint NOT NULL,
    time timestamptz NOT NULL,
    kind text NOT NULL,
    refs text[] NOT NULL,
    record jsonb NOT NULL,
    prev text NOT NULL,
    hash text NOT NULL,
    redacted integer NOT NULL,
    pack bytea NOT NULL,
    frame_offset bigint NOT NULL,
    frame_bytes bigint NOT NULL,
    line_offset bigint NOT NULL,
    line_bytes bigint NOT NULL,
    announced timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, time, session, number)
) PARTITION BY RANGE (time);
CREATE INDEX ON sightline.entries (time);
CREATE INDEX ON sightline.entries (host, session, number);
CREATE INDEX ON sightline.entries USING gin (refs);

CREATE TABLE sightline.buffers_rest PARTITION OF sightline.buffers DEFAULT;
CREATE TABLE sightline.changes_rest PARTITION OF sightline.changes DEFAULT;
CREATE TABLE sightline.entries_rest PARTITION OF sightline.entries DEFAULT;

CREATE TABLE sightline.grants (
    reader name NOT NULL,
    kind text NOT NULL CHECK (kind IN ('team', 'owner')),
    scope text NOT NULL,
    PRIMARY KEY (reader, kind, scope)
);

-- Who looks at a running buffer, until when: its host ships more often then.
CREATE TABLE sightline.watches (
    host integer NOT NULL,
    name text NOT NULL,
    reader name NOT NULL DEFAULT session_user,
    until timestamptz NOT NULL CHECK (until < 'infinity'),
    PRIMARY KEY (host, name, reader)
);

-- Remarks that a reader sends to an agent on a host.
CREATE TABLE sightline.remarks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host integer NOT NULL,
    reader name NOT NULL DEFAULT session_user,
    ref text NOT NULL,
    session text NOT NULL,
    text text NOT NULL,
    made timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON sightline.remarks (host, id);
"""

_SAFE = "SECURITY DEFINER SET search_path = pg_catalog, sightline, pg_temp"
"""A function that runs with its owner's rights finds only our names, whatever the caller's path is."""

_FUNCTIONS = f"""
CREATE FUNCTION sightline.is_own(host integer) RETURNS boolean LANGUAGE sql STABLE {_SAFE} AS $$
    SELECT EXISTS (SELECT FROM sightline.hosts AS known WHERE known.id = host AND known.role = session_user)
$$;

CREATE FUNCTION sightline.granted() RETURNS integer[] LANGUAGE sql STABLE {_SAFE} AS $$
    SELECT coalesce(array_agg(DISTINCT known.id), '{{}}') FROM sightline.hosts AS known JOIN sightline.grants AS given
    ON given.reader = session_user
    AND given.scope = CASE given.kind WHEN 'team' THEN known.team ELSE known.owner END
$$;

-- The host of a store of the role that asks; made where this is the first time.
CREATE FUNCTION sightline.enter(its_store uuid, wish text) RETURNS integer LANGUAGE plpgsql {_SAFE} AS $$
DECLARE
    given sightline.members;
    its_id integer;
    base text;
    tried text;
    nth integer := 1;
BEGIN
    SELECT * INTO given FROM sightline.members WHERE role = session_user;
    IF given.name IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'this role is no host of the fleet';
    END IF;
    base := given.name;
    wish := trim('-' FROM left(regexp_replace(lower(wish), '[^a-z0-9]+', '-', 'g'), 60));
    IF given.kind = 'ci' AND wish <> '' THEN
        base := base || '-' || wish;
    END IF;
    tried := base;
    LOOP
        SELECT id INTO its_id FROM sightline.hosts WHERE role = session_user AND store = its_store;
        IF its_id IS NOT NULL THEN
            RETURN its_id;
        END IF;
        INSERT INTO sightline.hosts (member, store, name, role, team, owner, kind)
            VALUES (given.name, its_store, tried, given.role, given.team, given.owner, given.kind)
            ON CONFLICT DO NOTHING RETURNING id INTO its_id;
        IF its_id IS NOT NULL THEN
            RETURN its_id;
        END IF;
        nth := nth + 1;
        tried := base || '-' || nth;
    END LOOP;
END
$$;

-- A pattern with * and ? as LIKE has it.
CREATE FUNCTION sightline.as_like(pattern text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT translate(replace(replace(replace(pattern, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*?', '%_')
$$;

"""  # noqa: S608 - values come as parameters

_OF_HOSTS = ("packs", "buffers", "changes", "sessions", "entries")
"""Tables to which a host adds rows, and which a reader reads."""

_CURSOR = "shipped_seq, shipped_mark, seen, behind"
_SHOWN_OF_HOSTS = f"id, member, store, name, team, owner, kind, {_CURSOR}"


def _policies() -> str:
    lines = [
        "REVOKE ALL ON SCHEMA sightline FROM PUBLIC;",
        "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA sightline FROM PUBLIC;",
        f"GRANT USAGE ON SCHEMA sightline TO {HOST_GROUP}, {READER_GROUP};",
        f"GRANT EXECUTE ON FUNCTION sightline.is_own, sightline.enter TO {HOST_GROUP};",
        f"GRANT EXECUTE ON FUNCTION sightline.granted, sightline.as_like TO {READER_GROUP};",
        f"GRANT SELECT ON sightline.fleet TO {HOST_GROUP}, {READER_GROUP};",
        f"GRANT SELECT ({_SHOWN_OF_HOSTS}) ON sightline.hosts TO {HOST_GROUP}, {READER_GROUP};",
        f"GRANT UPDATE ({_CURSOR}) ON sightline.hosts TO {HOST_GROUP};",
        "ALTER TABLE sightline.hosts ENABLE ROW LEVEL SECURITY;",
        f"CREATE POLICY own ON sightline.hosts TO {HOST_GROUP} USING (role = session_user);",
        f"CREATE POLICY granted ON sightline.hosts FOR SELECT TO {READER_GROUP}"
        f" USING (id = ANY ((SELECT sightline.granted())::integer[]));",
    ]
    for table in _OF_HOSTS:
        lines += [
            f"ALTER TABLE sightline.{table} ENABLE ROW LEVEL SECURITY;",
            f"GRANT INSERT ON sightline.{table} TO {HOST_GROUP};",
            f"GRANT SELECT ON sightline.{table} TO {READER_GROUP};",
            f"CREATE POLICY own ON sightline.{table} FOR INSERT TO {HOST_GROUP} WITH CHECK (sightline.is_own(host));",
            f"CREATE POLICY granted ON sightline.{table} FOR SELECT TO {READER_GROUP}"
            f" USING (host = ANY ((SELECT sightline.granted())::integer[]));",
        ]
    for table in ("watches", "remarks"):
        lines += [
            f"ALTER TABLE sightline.{table} ENABLE ROW LEVEL SECURITY;",
            f"GRANT SELECT ON sightline.{table} TO {HOST_GROUP}, {READER_GROUP};",
            f"GRANT INSERT, DELETE ON sightline.{table} TO {READER_GROUP};",
            f"CREATE POLICY own ON sightline.{table} FOR SELECT TO {HOST_GROUP} USING (sightline.is_own(host));",
            f"CREATE POLICY mine ON sightline.{table} TO {READER_GROUP} USING (reader = session_user)"
            f" WITH CHECK (reader = session_user AND host = ANY ((SELECT sightline.granted())::integer[]));",
        ]
    for table in ("members", "grants"):
        lines.append(f"ALTER TABLE sightline.{table} ENABLE ROW LEVEL SECURITY;")
    return "\n".join(lines)


_LIVE = f"""
-- What runs on a host now, as its shipper told last; gone when it has ended, and then among the buffers.
CREATE TABLE sightline.running (
    host integer NOT NULL,
    name text NOT NULL,
    record jsonb NOT NULL CHECK (length(record::text) < 100000),
    told timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, name)
);

-- What a running buffer wrote, in pieces, while somebody looks at it. Nothing is lost with it: it is shipped when done.
CREATE UNLOGGED TABLE sightline.live (
    host integer NOT NULL,
    name text NOT NULL,
    stream text NOT NULL CHECK (stream IN ('out', 'err')),
    at bigint NOT NULL CHECK (at >= 0),
    chunk bytea NOT NULL CHECK (length(chunk) <= 65536),
    told timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, name, stream, at)
);

-- A reader asks for what came after a number of each host.
CREATE INDEX IF NOT EXISTS entries_by_seq ON sightline.entries (host, seq);

ALTER TABLE sightline.running ENABLE ROW LEVEL SECURITY;
ALTER TABLE sightline.live ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON sightline.running, sightline.live TO {HOST_GROUP};
GRANT SELECT ON sightline.running, sightline.live TO {READER_GROUP};
CREATE POLICY own ON sightline.running TO {HOST_GROUP}
    USING (sightline.is_own(host)) WITH CHECK (sightline.is_own(host));
CREATE POLICY own ON sightline.live TO {HOST_GROUP}
    USING (sightline.is_own(host)) WITH CHECK (sightline.is_own(host));
CREATE POLICY granted ON sightline.running FOR SELECT TO {READER_GROUP}
    USING (host = ANY ((SELECT sightline.granted())::integer[]));
CREATE POLICY granted ON sightline.live FOR SELECT TO {READER_GROUP}
    USING (host = ANY ((SELECT sightline.granted())::integer[]));
GRANT UPDATE ON sightline.watches TO {READER_GROUP};
"""

_KEPT = f"""
-- A pack from which something was purged: what stands in its place has this hash, the same size and the same places.
ALTER TABLE sightline.packs ADD COLUMN replaced bytea, ADD COLUMN replaced_at timestamptz;
CREATE INDEX packs_replaced ON sightline.packs (replaced_at) WHERE replaced IS NOT NULL;

-- What is pinned outlives its day, in packs of its own.
ALTER TABLE sightline.packs ADD COLUMN kept boolean NOT NULL DEFAULT false;
ALTER TABLE sightline.buffers ADD COLUMN kept boolean NOT NULL DEFAULT false;
-- Of such a one: [packs, frames] as they were before, for as long as the object store has them.
ALTER TABLE sightline.buffers ADD COLUMN before_kept jsonb;
CREATE POLICY owners ON sightline.packs AS RESTRICTIVE FOR INSERT TO {HOST_GROUP}
    WITH CHECK (NOT kept AND replaced IS NULL AND replaced_at IS NULL);
CREATE POLICY owners ON sightline.buffers AS RESTRICTIVE FOR INSERT TO {HOST_GROUP} WITH CHECK (NOT kept);

-- What hosts ask to be purged, and the sessions that were removed there, are found among all the others.
CREATE INDEX ON sightline.changes (host) WHERE record -> 'purge' IS NOT NULL;
CREATE INDEX ON sightline.entries (host) WHERE kind = 'removed';

-- Objects that no row tells of any more, and that are yet to be removed.
CREATE TABLE sightline.doomed (key text PRIMARY KEY);
ALTER TABLE sightline.doomed ENABLE ROW LEVEL SECURITY;
"""

_JUDGED = f"""
-- What a host found in an output it has shipped, by its rules: why it is not judged, or the failures in it. Readers
-- with the same rules need not fetch and examine it.
CREATE TABLE sightline.judgements (
    created timestamptz NOT NULL,
    host integer NOT NULL,
    name text NOT NULL,
    rules text NOT NULL,
    why_not text NOT NULL,
    failures jsonb NOT NULL,
    told timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (created, host, name)
);
CREATE INDEX judgements_by_name ON sightline.judgements (host, name);

-- What a host found wrong in a session, by the lines of its log up to a number.
CREATE TABLE sightline.alarms (
    host integer NOT NULL,
    session text NOT NULL,
    number bigint NOT NULL,
    rules text NOT NULL,
    record jsonb NOT NULL,
    told timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, session)
);

ALTER TABLE sightline.judgements ENABLE ROW LEVEL SECURITY;
ALTER TABLE sightline.alarms ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON sightline.judgements, sightline.alarms TO {HOST_GROUP};
GRANT SELECT ON sightline.judgements, sightline.alarms TO {READER_GROUP};
CREATE POLICY own ON sightline.judgements TO {HOST_GROUP}
    USING (sightline.is_own(host)) WITH CHECK (sightline.is_own(host));
CREATE POLICY own ON sightline.alarms TO {HOST_GROUP}
    USING (sightline.is_own(host)) WITH CHECK (sightline.is_own(host));
CREATE POLICY granted ON sightline.judgements FOR SELECT TO {READER_GROUP}
    USING (host = ANY ((SELECT sightline.granted())::integer[]));
CREATE POLICY granted ON sightline.alarms FOR SELECT TO {READER_GROUP}
    USING (host = ANY ((SELECT sightline.granted())::integer[]));
"""

_OF_TEAMS = f"""
-- What a statement costs, and what its plan expects, must not tell a reader what others ran. So words are looked for
-- among the commands of the reader's teams alone, and of the columns of commands there is no plan that a reader can ask
-- for: a search gives them, and a row's record.
CREATE FUNCTION sightline.own_team() RETURNS text LANGUAGE sql STABLE {_SAFE} AS $$
    SELECT coalesce((SELECT team FROM sightline.members WHERE role = session_user), '')
$$;
REVOKE ALL ON FUNCTION sightline.own_team FROM PUBLIC;

ALTER TABLE sightline.buffers ADD COLUMN team text NOT NULL DEFAULT '';
UPDATE sightline.buffers AS found SET team = host.team FROM sightline.hosts AS host WHERE host.id = found.host;
ALTER TABLE sightline.buffers ALTER COLUMN team SET DEFAULT sightline.own_team();

REVOKE SELECT ON sightline.buffers FROM {READER_GROUP};
GRANT SELECT (host, seq, name, created, ended, kind, state, exit_code, failed, partial, bytes, lines, record, packs,
    frames, redacted, announced, kept) ON sightline.buffers TO {READER_GROUP};

-- The trigrams of a command, each with the team.
CREATE FUNCTION sightline.word_keys(team text, command text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
COST 1000 AS $$
    SELECT array_agg(team || '/' || part) FROM unnest(sightline.show_trgm(command)) AS part
$$;
-- Those that a command has wherever in it the word stands; NULL if none is sure.
CREATE FUNCTION sightline.keys_within(team text, word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT team || '/' || part) FROM regexp_split_to_table(word, '[^A-Za-z0-9]+') AS run,
        unnest(sightline.show_trgm(run)) AS part WHERE length(run) >= 3 AND strpos(part, ' ') = 0
$$;
REVOKE ALL ON FUNCTION sightline.word_keys, sightline.keys_within FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sightline.own_team, sightline.word_keys, sightline.show_trgm TO {HOST_GROUP};

DROP INDEX sightline.buffers_command_idx;
CREATE INDEX buffers_by_words ON sightline.buffers USING gin (sightline.word_keys(team, command));
"""  # noqa: S608 - values come as parameters

_FIND = f"""
DROP FUNCTION IF EXISTS sightline.find_buffers;

-- Newest buffers that the reader may see: of hosts by a pattern, with all words in the command, begun in a time.
CREATE FUNCTION sightline.find_buffers(
    words text[] DEFAULT '{{}}', hosts text DEFAULT '*', since timestamptz DEFAULT '-infinity',
    before timestamptz DEFAULT 'infinity', most integer DEFAULT 100, only_failed boolean DEFAULT false
) RETURNS SETOF sightline.buffers LANGUAGE plpgsql STABLE {_SAFE} SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    allowed integer[];
    teams text[];
    likes text[];
    rarest text;
    of_hosts integer[];
    times timestamptz[];
    names text[];
    failures boolean[];
    is_common boolean;
    wanted integer := least(greatest(most, 0), 10000);
BEGIN
    SELECT coalesce(array_agg(id), '{{}}'), coalesce(array_agg(DISTINCT team), '{{}}') INTO allowed, teams
        FROM sightline.hosts AS known
        WHERE known.id = ANY (sightline.granted()) AND known.name LIKE sightline.as_like(find_buffers.hosts);
    SELECT array_agg('%' || replace(replace(replace(word, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'
        ORDER BY length(word) DESC) INTO likes FROM unnest(words) AS word WHERE word <> '';
    -- The index is asked for one word. Each common trigram in that costs a look at all its rows, so it is a number
    -- or a hash if a word has one: `target-480113` is found by `480113`.
    SELECT part INTO rarest FROM unnest(words) AS word, regexp_split_to_table(word, '[^[:alnum:]]+') AS part
        WHERE length(part) >= 5 AND part ~ '[0-9]' ORDER BY length(part) DESC LIMIT 1;
    IF sightline.keys_within('', rarest) IS NULL THEN
        SELECT word INTO rarest FROM unnest(words) AS word WHERE sightline.keys_within('', word) IS NOT NULL
            ORDER BY length(word) DESC LIMIT 1;
    END IF;
    -- Many that match would have to be sorted, while it takes few of the newest to find enough of them.
    is_common := rarest IS NULL OR wanted <= (SELECT count(*) FROM (SELECT FROM (
        SELECT command FROM sightline.buffers AS near WHERE near.host = ANY (allowed)
            AND near.created >= since AND near.created < before ORDER BY near.created DESC LIMIT 500
        ) AS newest WHERE command ILIKE ALL (likes) LIMIT wanted) AS enough);
    IF NOT is_common THEN
        SELECT array_agg(hit.host), array_agg(hit.created), array_agg(hit.name), array_agg(hit.failed)
            INTO of_hosts, times, names, failures FROM (SELECT one.* FROM unnest(teams) AS own (team)
            JOIN sightline.buffers AS one
            ON sightline.word_keys(one.team, one.command) @> sightline.keys_within(own.team, rarest)
            WHERE one.host = ANY (allowed) AND one.command ILIKE ALL (likes) LIMIT 5000) AS hit;
        is_common := cardinality(names) >= 5000;
    END IF;
    IF is_common THEN
        RETURN QUERY SELECT * FROM sightline.buffers AS one
            WHERE one.host = ANY (allowed) AND one.created >= since AND one.created < before
            AND (likes IS NULL OR one.command ILIKE ALL (likes))
            AND (one.failed OR NOT only_failed)
            ORDER BY one.created DESC LIMIT wanted;
    ELSE
        RETURN QUERY SELECT one.* FROM (
            SELECT * FROM unnest(of_hosts, times, names, failures) AS known (host, created, name, failed)
            WHERE known.created >= since AND known.created < before AND (known.failed OR NOT only_failed)
            ORDER BY known.created DESC LIMIT wanted
        ) AS hit JOIN sightline.buffers AS one
            ON one.host = hit.host AND one.created = hit.created AND one.name = hit.name ORDER BY one.created DESC;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION sightline.find_buffers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sightline.find_buffers TO {READER_GROUP};
"""  # noqa: S608 - values come as parameters

_JOIN = f"""
-- Roles whose password is that of an invitation, and until when it is good.
CREATE TABLE sightline.invitations (
    role name PRIMARY KEY,
    until timestamptz NOT NULL
);
ALTER TABLE sightline.invitations ENABLE ROW LEVEL SECURITY;

-- Gives the role that asks a password of its own, once, while its invitation is good; `verifier` is its hashed form.
CREATE FUNCTION sightline.join_with(verifier text) RETURNS void LANGUAGE plpgsql {_SAFE} AS $$
BEGIN
    IF verifier !~ '^SCRAM-SHA-256[$][0-9]+:[A-Za-z0-9+/=]+[$][A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$' THEN
        RAISE EXCEPTION 'not a hashed password' USING ERRCODE = 'check_violation';
    END IF;
    DELETE FROM sightline.invitations WHERE role = session_user AND until > now();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this role has no invitation that is still good' USING ERRCODE = 'insufficient_privilege';
    END IF;
    EXECUTE format('ALTER ROLE %I PASSWORD %L VALID UNTIL %L', session_user, verifier, 'infinity');
END
$$;
REVOKE ALL ON FUNCTION sightline.join_with FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sightline.join_with TO {HOST_GROUP};
"""  # noqa: S608 - values come as parameters

_FACTS = f"""
-- What a host has found out about an output: the bits and numbers of its verdict, by its rules. A verdict on all
-- outputs is a sum of these.
CREATE TABLE sightline.facts (
    host integer NOT NULL,
    created timestamptz NOT NULL,
    name text NOT NULL,
    rules text NOT NULL,
    flags integer NOT NULL,
    failures bigint NOT NULL,
    unseen bigint NOT NULL,
    lines bigint NOT NULL,
    seen float8 NOT NULL,
    again bigint NOT NULL,
    place jsonb NOT NULL, -- its session, and its project or else its folder: of columns, plans would tell numbers
    told timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, name, created)
);
CREATE INDEX facts_by_time ON sightline.facts (told);
CREATE INDEX alarms_by_time ON sightline.alarms (told);
ALTER TABLE sightline.alarms ADD COLUMN messages integer NOT NULL DEFAULT 0,
    ADD COLUMN not_read integer NOT NULL DEFAULT 0;

ALTER TABLE sightline.facts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON sightline.facts TO {HOST_GROUP};
GRANT SELECT ON sightline.facts TO {READER_GROUP};
CREATE POLICY own ON sightline.facts TO {HOST_GROUP}
    USING (sightline.is_own(host)) WITH CHECK (sightline.is_own(host));
CREATE POLICY granted ON sightline.facts FOR SELECT TO {READER_GROUP}
    USING (host = ANY ((SELECT sightline.granted())::integer[]));

-- A host knows nothing of what others were shown of its outputs, so readers judge such outputs themselves.
CREATE FUNCTION sightline.is_across(refs text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT EXISTS (SELECT FROM unnest(refs) AS ref WHERE strpos(ref, '/') > 0)
$$;
REVOKE ALL ON FUNCTION sightline.is_across FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sightline.is_across TO {HOST_GROUP}, {READER_GROUP};
CREATE INDEX entries_across ON sightline.entries (time) WHERE sightline.is_across(refs);
"""  # noqa: S608 - values come as parameters

MIGRATIONS = {1: _LIVE, 2: _KEPT, 3: _JUDGED, 4: _OF_TEAMS + _FIND + _JOIN, 5: _FACTS}
"""By version N, the script that leads to N + 1."""

FIRST = _TABLES + _FUNCTIONS + _policies()
"""The tables of version 1, without what a later step makes again."""

CREATE = FIRST + "".join(MIGRATIONS.values())
"""All of it, for a database without a fleet; the two groups must exist."""
