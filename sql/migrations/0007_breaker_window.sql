-- A window of time beside the window of calls (BREAK-1).
alter table "unstuck".breakers
  -- NULL: the last calls count however old they are.
  add column window_ms "unstuck".lease_ms,
  -- When each of the calls was reported; empty where no age is looked at.
  add column called_at timestamptz[] not null default '{}';
