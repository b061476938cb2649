-- Private: settings of a session that holds a presence lock. A busy backend notices within a second that its client is
-- dead; a silent network does not end the session before the longest lease. Not every platform has every setting.
create or replace function "unstuck".prepare_presence(p_longest_lease_ms bigint)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_setting record;
begin
  for v_setting in
    select * from (values
      ('client_connection_check_interval', '1s'), ('idle_session_timeout', '0'), ('tcp_user_timeout', '0'),
      ('tcp_keepalives_idle', least(greatest(60, p_longest_lease_ms / 1000), 32767)::text),
      ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '6')) setting(name, value)
  loop
    begin
      perform set_config(v_setting.name, v_setting.value, false);
    exception when others then
      null;
    end;
  end loop;
  return true;
end
$$;

-- Private: takes the presence lock of a worker for this session and records it. Waits for a reap of its jobs that is
-- under way. Without a key, records that a pooler is in between.
create or replace function "unstuck".take_presence(p_attachment text, p_worker_id text, p_key int, p_grace_ms bigint)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz;
  v_epoch text;
begin
  perform pg_advisory_lock_shared("unstuck".lock_class('presence'), p_key) where p_key is not null;
  v_now := clock_timestamp();
  v_epoch := "unstuck".presence_epoch();
  -- The worker's first report completes the row.
  insert into "unstuck".workers as known
    (attachment, worker_id, types, concurrency, running, report_ms, started_at, seen_at, presence, presence_key,
     presence_grace_ms, presence_epoch)
  values (p_attachment, p_worker_id, '{}', 0, 0, 15000, v_now, v_now,
          case when p_key is null then 'pooled' else 'direct' end, p_key, p_grace_ms, v_epoch)
  on conflict (attachment, worker_id) do update
     set presence = excluded.presence, presence_key = excluded.presence_key,
         presence_grace_ms = excluded.presence_grace_ms, presence_epoch = excluded.presence_epoch, absent_at = null;
  return true;
end
$$;

-- Private: a sign of life of a worker without its lock, over any connection.
create or replace function "unstuck".show_life(p_attachment text, p_worker_id text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update "unstuck".workers set seen_at = v_now
   where attachment = p_attachment and worker_id = p_worker_id;
  return found;
end
$$;

-- Private: an orderly leave. The lock ends with the session.
create or replace function "unstuck".leave_presence(p_attachment text, p_worker_id text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update "unstuck".workers set presence_key = null, absent_at = null
   where attachment = p_attachment and worker_id = p_worker_id;
  return found;
end
$$;
