-- Schedules sweeps of the table in pg_cron every few seconds, with no other program running, and returns the schedule.
-- Before version 1.5 pg_cron knows no seconds: a job of every minute then runs for that minute. Call it again to
-- change the interval.
create or replace function "unstuck"."schedule_sweeps"(p_every_sec int default 15)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_version int[] := (select regexp_match(extversion, '^([0-9]+)[.]([0-9]+)')::int[] from pg_extension
                       where extname = 'pg_cron');
  v_suffix text := coalesce('__' || nullif(/*attachment*/'native', 'native'), '');
  v_schedule text := '* * * * *';
  v_command text;
begin
  perform "unstuck".require(p_every_sec between 1 and 59, 'every_sec', p_every_sec::text, 'seconds from 1 to 59');
  perform "unstuck".require(v_version is not null, 'pg_cron', 'no such extension',
                            'the extension in this database: create extension pg_cron');
  v_command := format('call %I.%I(%s, ''pg_cron'')', /*schema*/'unstuck', 'run_sweeps' || v_suffix, p_every_sec);
  if v_version >= array[1, 5] then
    v_schedule := p_every_sec || ' seconds';
    v_command := format('call %I.%I(''pg_cron'')', /*schema*/'unstuck', 'run_sweep' || v_suffix);
  end if;
  execute 'select cron.schedule($1, $2, $3)' using 'unstuck ' || /*attachment*/'native', v_schedule, v_command;
  return v_schedule;
end
$$;
