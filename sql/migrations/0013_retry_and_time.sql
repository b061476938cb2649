-- Rules that a job brings (docs/adr/0049): its own backoff, and a time after which it is not started. NULL for most
-- jobs, so their rows stay as wide as they were.
alter table "unstuck"."jobs" add column if not exists "backoff_steps_ms" bigint[];
alter table "unstuck"."jobs" add column if not exists "expires_at" timestamptz;

-- Dedupe keys that stay taken for a time, whatever happens to their job. No reference to attachments: every such
-- enqueue would lock the same row. Rows lapse, and later ones delete them.
create table "unstuck".dedupe_windows (
  attachment text not null,
  type       text not null,
  dedupe_key text not null,
  job_id     text not null,
  ends_at    timestamptz not null,
  primary key (attachment, type, dedupe_key)
);
create index dedupe_windows_ended on "unstuck".dedupe_windows (attachment, ends_at);

-- Roles that may use dedupe keys may use windows.
-- grants: dedupe_windows as dedupe_locks
