-- Sets how far the engine goes on this table. observe: sweeps of reapers record what they would do, and no call of
-- ours changes a row (OPS-14); leases granted before can still be renewed and ended. reap: sweeps act, and so does
-- everything else. enforce: as reap, and a trigger checks every writer that changes the status and knows no lease;
-- p_on_foreign_settle says whether it may end a leased job, which is recorded, or is refused. Waits at most 2 s for
-- the table: writers of the team would queue behind us.
create or replace function "unstuck"."set_mode"(p_mode text, p_on_foreign_settle text default null)
returns table (mode text, on_foreign_settle text, since timestamptz) language plpgsql set lock_timeout = '2s' as $$
declare
  v_before text;
  v_now timestamptz := clock_timestamp();
begin
  perform "unstuck".require(p_mode in ('observe', 'reap', 'enforce'), 'mode', p_mode, 'observe, reap or enforce');
  perform "unstuck".require(
    p_on_foreign_settle is null or p_mode = 'enforce' and p_on_foreign_settle in ('record', 'refuse'),
    'on_foreign_settle', p_on_foreign_settle, 'record or refuse, with the mode enforce only');
  perform "unstuck".policy_of(/*attachment*/'native');
  /*+distributed perform "unstuck".refuse_trigger() where p_mode = 'enforce'; */
  select attached.mode into v_before from "unstuck".attachments attached
   where attached.name = /*attachment*/'native' for update;

  if p_mode = 'enforce' then
    -- Compared in WHEN, so that heartbeats and verbs of ours do not call the function: verbs that start or end a lease
    -- change its id. With and without it, 1,000 jobs with 20 heartbeats each: 167 to 169 bytes of WAL per heartbeat
    -- and 300 per completion, 19,156 of 22,000 updates HOT, no difference in time.
    create or replace trigger unstuck_fence before update on "unstuck"."jobs" for each row
      when (old."status" is distinct from new."status" and old."lease_id" is not distinct from new."lease_id"
            and ((new."status" in /*running_words*/('running')) is true
                   and (old."status" in /*running_words*/('running')) is not true
                 or old."lease_id" is not null and (old."status" in /*running_words*/('running')) is true
                   and (new."status" in /*running_words*/('running')) is not true))
      execute function "unstuck"."fence_writer"();
  elsif exists (select from pg_trigger where tgname = 'unstuck_fence' and tgrelid = to_regclass(
                  format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))::oid) then
    drop trigger unstuck_fence on "unstuck"."jobs";
  end if;
  if v_before <> p_mode and 'observe' in (v_before, p_mode) then
    -- Observations stay readable until the next time.
    perform "unstuck"."record_observed_outcomes"(v_now, 'still-stuck');
    delete from "unstuck".observations where attachment = /*attachment*/'native' and p_mode = 'observe';
  end if;
  update "unstuck".policies set is_observed = p_mode = 'observe' where attachment = /*attachment*/'native';
  return query
  update "unstuck".attachments attached
     set mode = p_mode,
         on_foreign_settle = coalesce(
           p_on_foreign_settle, case when v_before = p_mode then attached.on_foreign_settle else 'record' end),
         mode_since = case when v_before = p_mode then attached.mode_since else v_now end
   where attached.name = /*attachment*/'native'
  returning attached.mode, attached.on_foreign_settle, attached.mode_since;
end
$$;

-- Private: refuses mode enforce on a table that Citus distributes: it supports no triggers there (docs/adr/0039).
create or replace function "unstuck".refuse_trigger()
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception using
    errcode = 'UN006', message = 'the table is distributed by Citus, which has no triggers: mode enforce needs one',
    hint = 'Use mode reap. The functions of unstuck check the lease there as everywhere.';
end
$$;
