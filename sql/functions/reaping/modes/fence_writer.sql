-- Private: the trigger of mode enforce. It runs if the status changes and the lease does not: no verb of ours does
-- that, so the writer knows no leases. If it ends a leased job, the lease is removed and the holder's late write is
-- refused; or the writer itself is refused. If it claims a job, the row gets no lease: an old one is removed, and the
-- age rule judges the row from then on (REAP-8). SECURITY DEFINER, because the writer may have no privileges on our
-- tables.
create or replace function "unstuck"."fence_writer"()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_is_claim boolean := (new."status" in /*running_words*/('running')) is true;
  v_must_refuse boolean := exists (
    select from "unstuck".attachments where name = /*attachment*/'native' and on_foreign_settle = 'refuse');
begin
  if v_must_refuse and not v_is_claim then
    raise exception using
      errcode = 'UN004',
      message = format('job %s is leased to %s: without that lease its status cannot go from %s to %s',
                       old."id", coalesce(old."worker_id"::text, 'a worker'), old."status", new."status"),
      hint = 'End it through the functions of unstuck with its lease, or let such writes pass: '
             'unstuck mode enforce --on-foreign-settle record.';
  end if;
  if not v_is_claim or old."lease_id" is not null
     or (select events from "unstuck".policies where attachment = /*attachment*/'native') = 'all' then
    perform "unstuck"."record_events"(v_now, array[
      row(old."id"::text, case when v_is_claim then 'foreign_claim' else 'foreign_settle' end,
          jsonb_build_object(
            'from', old."status", 'to', new."status", 'locked_by', old."worker_id", 'lease_id', old."lease_id",
            'fence', old."fence", 'attempt', old."attempt", 'role', session_user,
            'application_name', current_setting('application_name')))::"unstuck".new_event]);
  end if;
  new."lease_id" := null;
  new."lease_expires_at" := null;
  new."deadline_at" := null;
  if v_is_claim then
    -- A row without new times would be judged by those of an earlier claim.
    if (select /*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at")) from (select new.*) job)
       is not distinct from
       (select /*age*/(greatest(job."heartbeat_at", job."started_at", job."updated_at")) from (select old.*) job) then
      new."heartbeat_at" := v_now;
    end if;
    return new;
  end if;
  if new."worker_id" is not distinct from old."worker_id" then
    new."worker_id" := null;
  end if;
  /*+lock_time
  if new."last_attempt_at" is not distinct from old."last_attempt_at" then
    new."last_attempt_at" := null;
  end if;
  */
  return new;
end
$$;
-- Whoever may call it could make it the trigger of a table of his own, and write our events (C20).
select "unstuck".withhold('function', format(
  '%I.%I()', /*schema*/'unstuck', concat('fence_writer', '__' || nullif(/*attachment*/'native', 'native'))));
