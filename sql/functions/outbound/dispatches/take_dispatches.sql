-- Takes due dispatches for p_lease_ms, in the order in which their jobs are due. Those neither finished nor failed by
-- then are taken again. Dispatches of jobs that no longer wait are deleted.
create or replace function "unstuck"."take_dispatches"(p_limit int default 100, p_lease_ms bigint default 30000)
returns table (dispatch_id uuid, job_id text, tries int, type text, queue text, attempt int, run_in_ms float8)
language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids text[];
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(p_lease_ms between 1 and 31536000000, 'lease_ms', p_lease_ms::text,
                            'milliseconds from 1 to one year');
  perform "unstuck".require_acting(/*attachment*/'native');
  -- Repeated if all were outdated, so that they do not block others; bounded.
  for v_look in 1..100 loop
    v_ids := array(select due.job_id from "unstuck".dispatches due
                    where due.attachment = /*attachment*/'native' and due.next_try_at <= now()
                    order by due.next_try_at limit p_limit
                      for update skip locked);
    exit when cardinality(v_ids) = 0;
    -- A separate statement with a snapshot later than the locks: earlier requeues have committed, and later ones wait
    -- for us and rewrite the row.
    delete from "unstuck".dispatches due
     where due.attachment = /*attachment*/'native' and due.job_id = any (v_ids)
       and not exists (select from "unstuck"."jobs" job
                        where job."id" = due.job_id::/*id*/uuid
                          and job."status" is not distinct from /*waiting*/'waiting');
    return query
    with taken as (
      update "unstuck".dispatches due
         set next_try_at = "unstuck".after_ms(v_now, p_lease_ms), tries = due.tries + 1
       where due.attachment = /*attachment*/'native' and due.job_id = any (v_ids)
      returning due.dispatch_id, due.job_id, due.tries
    )
    select taken.dispatch_id, taken.job_id, taken.tries, job."type"::text, coalesce(job."queue", job."type")::text,
           coalesce(job."attempt", 0)::int,
           -- Rounded up: a job published before its time cannot be claimed.
           greatest(0, ceil(extract(epoch from job."run_at" - v_now) * 1000::numeric))::float8
      from taken join "unstuck"."jobs" job on job."id" = taken.job_id::/*id*/uuid
     order by coalesce(job."run_at", job."created_at"), job."id";
    exit when found;
  end loop;
end
$$;
