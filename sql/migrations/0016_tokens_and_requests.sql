-- Who may use the HTTP API, and what it answered to requests that may be sent twice.

create table "unstuck".tokens (
  name       text primary key,
  -- Of the secret, which is shown once and kept nowhere.
  sha256     bytea not null unique,
  scopes     text[] not null,
  -- Set: the token sees and changes jobs of this owner only.
  owner      text,
  created_at timestamptz not null,
  created_by text,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text
);

create table "unstuck".requests (
  actor    text not null,
  key      text not null,
  -- Of method, path and body: the same key with another request is a mistake of the caller's.
  sha256   bytea not null,
  -- NULL while it is under way.
  status   int,
  answer   text,
  begun_at timestamptz not null,
  primary key (actor, key)
);
create index requests_begun on "unstuck".requests (begun_at);
