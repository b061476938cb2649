-- Private: class of the presence locks of this installation.
create or replace function "unstuck".presence_class()
returns int language sql immutable
return hashtext('unstuck presence ' || /*schema*/'unstuck');

-- Private: class of the locks of the sessions that watch, at most two for each table: one may end with its process.
create or replace function "unstuck".watch_class(p_nth int)
returns int language sql immutable
return hashtext(format('unstuck watch %s %s', p_nth, /*schema*/'unstuck'));

-- Private: takes a place among the sessions that watch a table. False if both are taken.
create or replace function "unstuck".watch_workers(p_attachment text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return pg_try_advisory_lock("unstuck".watch_class(1), hashtext(p_attachment))
      or pg_try_advisory_lock("unstuck".watch_class(2), hashtext(p_attachment));
end
$$;

-- Private: the run of the server, or NULL if it cannot be told apart from another.
create or replace function "unstuck".presence_epoch()
returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select "unstuck".server_epoch() from pg_stat_bgwriter where stats_reset is not null
$$;

-- Private: is a worker without its lock gone? Absent at every look for its whole grace, and without a sign of life.
create or replace function "unstuck".is_gone(
  p_vanished_at timestamptz, p_absent_at timestamptz, p_seen_at timestamptz, p_grace_ms bigint)
returns boolean language sql stable
return coalesce(p_absent_at >= "unstuck".after_ms(p_vanished_at, p_grace_ms) and p_seen_at < p_vanished_at, false);
