-- Presence: a worker holds a session-level advisory lock while its process lives (LEASE-10).

-- Without the constraint, which would rewrite the table; it follows.
create domain "unstuck".presence_mode as text;
comment on domain "unstuck".presence_mode is 'auto or off';
alter table "unstuck".policies add column presence "unstuck".presence_mode not null default 'auto';
alter domain "unstuck".presence_mode add constraint takes_auto_or_off check (value in ('auto', 'off'));
-- Attached tables keep the rule that a valid lease is never touched, unless their policy says otherwise.
update "unstuck".policies set presence = 'off' where attachment <> 'native';

alter table "unstuck".workers
  -- direct holds the lock; pooled cannot, because a pooler shares its sessions; off does not try.
  add column presence text not null default 'off' check (presence in ('direct', 'pooled', 'off')),
  -- Key of its lock. NULL once it has left, or is gone and its jobs are taken back.
  add column presence_key int unique check (presence_key > 0),
  -- Time that it has to reconnect.
  add column presence_grace_ms bigint,
  -- Run of the server in which the lock was last seen held.
  add column presence_epoch text,
  -- First look without the lock, in the last absence. Kept after its return, to recognize a mass.
  add column vanished_at timestamptz,
  -- Last look without it; NULL while it is present.
  add column absent_at timestamptz;
