-- Replaced by next_cursors and seen_locks (docs/adr/0059).
drop function if exists "unstuck".next_cursor(jsonb, int);
drop function if exists "unstuck".seen_workers(timestamptz, text);
