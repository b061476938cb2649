-- A whole sweep from SQL alone, for pg_cron or by hand: CALL it at top level, for it commits after every batch.
create or replace procedure "unstuck"."run_sweep"(p_reaper_id text default 'sql', p_limit int default 1000)
language plpgsql as $$
declare
  v_step jsonb;
  v_cursor jsonb;
begin
  loop
    v_step := "unstuck"."sweep_jobs"(jsonb_build_object('reaper_id', p_reaper_id), p_limit, v_cursor);
    commit;
    v_cursor := nullif(v_step -> 'next', 'null');
    exit when v_cursor is null;
  end loop;
end
$$;
