-- Sweeps at once and again every few seconds, for a minute: for a pg_cron without seconds. CALL it at top level: it
-- commits after every batch.
create or replace procedure "unstuck"."run_sweeps"(p_every_sec int default 15, p_reaper_id text default 'sql')
language plpgsql as $$
declare
  v_ends_at timestamptz := clock_timestamp() + interval '59 seconds';
begin
  perform "unstuck".require(p_every_sec between 1 and 59, 'every_sec', p_every_sec::text, 'seconds from 1 to 59');
  loop
    call "unstuck"."run_sweep"(p_reaper_id);
    exit when clock_timestamp() + make_interval(secs => p_every_sec) > v_ends_at;
    perform pg_sleep(p_every_sec);
    -- A new transaction, with a new now().
    commit;
  end loop;
end
$$;
