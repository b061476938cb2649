-- Private: the jobs of an operation, oldest first: those that match, that its action can change, and that are
-- unchanged since p_as_of. With p_limit the oldest of them; without, up to 100,001, which shows that there are too
-- many. Scans by id in steps, newest first, so that no step sorts the whole table. A plan only counts: with
-- p_reads as many rows are read at most, and is_cut says that there may be more jobs.
create or replace function "unstuck"."target_jobs"(
  p_action text, p_filter jsonb, p_as_of timestamptz, p_limit int, p_reads int,
  out ids /*id*/uuid[], out is_cut boolean)
language plpgsql stable as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(/*attachment*/'native');
  v_keeps int := coalesce(p_limit, 100001);
  v_left int := p_reads;
  v_step int;
  v_role text;
  v_filter jsonb;
  v_last /*id*/uuid;
  v_scanned /*id*/uuid[];
  v_found /*id*/uuid[];
begin
  ids := '{}';
  is_cut := false;
  foreach v_role in array case p_action when 'cancel' then array['waiting', 'running']
                                        when 'run-now' then array['waiting']
                                        when 'discard' then array[coalesce(p_filter ->> 'status', 'any')]
                                        else array['dead'] end loop
    continue when p_filter ? 'status' and v_role <> p_filter ->> 'status';
    v_filter := case when v_role = 'any' then p_filter else p_filter || jsonb_build_object('status', v_role) end;
    v_found := '{}';
    v_last := null;
    loop
      -- One row more than a plan may read shows that there are more.
      v_step := least(20000, v_left + 1);
      v_scanned := "unstuck"."scan_jobs"(v_role, v_last, v_step, v_filter);
      is_cut := coalesce(cardinality(v_scanned) > v_left, false);
      -- Each step reads older jobs than the one before.
      v_found := array_cat("unstuck"."untouched_jobs"(
        p_action, p_as_of, "unstuck"."matching_jobs"(
          v_policy, v_filter, v_scanned[:coalesce(v_left, v_step)], v_step)), v_found);
      v_left := v_left - cardinality(v_scanned);
      -- A plan need not know which of the matching jobs are the oldest.
      exit when is_cut or cardinality(v_scanned) < v_step
             or cardinality(v_found) >= v_keeps and (p_limit is null or p_reads is not null);
      v_last := v_scanned[v_step];
      v_found := v_found[:v_keeps];
    end loop;
    ids := array_cat(ids, v_found);
    exit when is_cut;
  end loop;
  ids := array(select each.id from pg_catalog.unnest(ids) each(id) order by each.id limit v_keeps);
  is_cut := is_cut and cardinality(ids) < v_keeps;
end
$$;

-- Private: the ids among p_ids that are unchanged since p_as_of as far as the action is concerned: a job that died
-- again is not retried, a job changed by anyone is not deleted, a job created later is not included. Times are compared
-- as people see them, in milliseconds: the jobs on a page are part of an operation as of that page's time.
create or replace function "unstuck"."untouched_jobs"(p_action text, p_as_of timestamptz, p_ids /*id*/uuid[])
returns /*id*/uuid[] language sql stable set enable_seqscan = off as $$
  select array(
    select job."id" from "unstuck"."jobs" job
     where job."id" = any (p_ids)
       and coalesce(p_as_of >= date_trunc('milliseconds', case
             when p_action in ('retry', 'redrive')
               then coalesce(job."finished_at", job."updated_at", job."created_at")
             when p_action = 'discard' then greatest(job."finished_at", job."updated_at", job."created_at")
             else job."created_at" end), true)
       and (p_action <> 'discard' or job."status" not in /*running_words*/('running'))
     order by job."id")
$$;
