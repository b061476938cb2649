-- A whole sweep from SQL alone, for pg_cron or by hand. CALL it at top level: it commits after every batch. It
-- remembers its last heartbeat, if no other reaper has swept since, and so recognizes a mass of leases that ended
-- together.
create or replace procedure "unstuck"."run_sweep"(p_reaper_id text default 'sql', p_limit int default 1000)
language plpgsql as $$
declare
  v_reaper jsonb := jsonb_build_object(
    'reaper_id', p_reaper_id,
    'last_swept_at', (select "unstuck".iso_utc(last.swept_at) from "unstuck".sweeps last
                       where last.attachment = /*attachment*/'native' and last.reaper_id = p_reaper_id));
  v_grace_ms float8;
  v_step json;
  v_cursor jsonb;
begin
  -- Workers whose session has ended are judged after several looks, a grace apart in all (LEASE-10).
  for v_look in 1 .. 4 loop
    if exists (select from "unstuck".policies where attachment = /*attachment*/'native' and presence <> 'off') then
      perform "unstuck".look_at_workers(/*attachment*/'native');
    end if;
    v_grace_ms := "unstuck".absent_grace_ms(/*attachment*/'native');
    commit;
    exit when v_grace_ms is null;
    perform pg_sleep(v_grace_ms / 3000);
  end loop;
  loop
    v_step := "unstuck"."sweep_step"(v_reaper, p_limit, v_cursor, null, null, null, false);
    commit;
    v_cursor := v_step ->> 'next';
    exit when v_cursor is null;
  end loop;
  perform "unstuck"."count_trends"()
    where has_table_privilege(format('%I.trends', /*schema*/'unstuck'), 'insert');
  commit;
end
$$;
