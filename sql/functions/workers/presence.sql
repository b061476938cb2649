-- Private: classes of the locks of the sessions that watch. Two watch a table, so that one may end with its process;
-- there are more places for the case that one is frozen.
create or replace function "unstuck".watch_classes()
returns int[] language sql immutable
return array["unstuck".lock_class('watch 1'), "unstuck".lock_class('watch 2'),
             "unstuck".lock_class('watch 3'), "unstuck".lock_class('watch 4')];

-- Private: the keys of the workers that hold their lock, and the number of sessions that watch a table, by one read of
-- all locks. A frozen process keeps its lock and does not look; sessions of other roles cannot be told from it. Not by
-- pg_stat_activity, which joins all sessions with their databases and roles.
create or replace function "unstuck".seen_locks(p_attachment text, out held int[], out watchers int)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_pids int[];
begin
  select coalesce(array_agg(seen.key) filter (where not seen.is_watch), '{}'),
         array_agg(seen.pid) filter (where seen.is_watch and seen.key = hashtext(p_attachment))
    into held, v_pids from "unstuck".presence_locks() seen;
  watchers := (select count(*) from unnest(v_pids) watching(pid)
                 left join lateral pg_stat_get_activity(watching.pid) session on true
                where coalesce(session.query_start > clock_timestamp() - interval '10 s', true));
end
$$;

-- Private: the number of sessions that watch a table.
create or replace function "unstuck".watchers(p_attachment text)
returns int language sql stable set search_path = pg_catalog, pg_temp as $$
  select watchers from "unstuck".seen_locks(p_attachment)
$$;

-- Private: takes a place among the sessions that watch a table. False if two do already.
create or replace function "unstuck".watch_workers(p_attachment text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_class int;
begin
  if "unstuck".watchers(p_attachment) >= 2 then
    return false;
  end if;
  foreach v_class in array "unstuck".watch_classes() loop
    if pg_try_advisory_lock(v_class, hashtext(p_attachment)) then
      return true;
    end if;
  end loop;
  return false;
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
