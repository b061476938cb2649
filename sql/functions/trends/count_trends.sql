-- Counts what happened in a minute from the rows: what passed no worker of this library is only found so. p_minute is
-- a minute of the last 14 days that has ended; by default each of the last 15 that is not counted yet, since sweeps
-- may be rarer than minutes. Returns the number of rows written. Deletes rows after 14 days.
create or replace function "unstuck"."count_trends"(p_minute timestamptz default null)
returns int language plpgsql set enable_seqscan = off as $$
declare
  v_last timestamptz := date_trunc('minute', clock_timestamp()) - interval '1 minute';
  v_first int := case when p_minute is null then 14 else 0 end;
  v_written int := 0;
begin
  perform "unstuck".require(
    coalesce(p_minute < v_last + interval '1 minute' and p_minute > v_last - interval '14 days', true), 'minute',
    p_minute::text, 'a minute of the last 14 days that has ended');
  if not pg_try_advisory_xact_lock("unstuck".lock_class('trends'), hashtext(/*attachment*/'native')) then
    return 0;
  end if;
  for v_back in reverse v_first .. 0 loop
    v_written := v_written + "unstuck"."count_minute"(
      coalesce(date_trunc('minute', p_minute), v_last - v_back::float8 * interval '1 minute'));
  end loop;
  delete from "unstuck".trends where ctid = any (array(
    select old.ctid from "unstuck".trends old
     where old.attachment = /*attachment*/'native' and old.span_min in (1, 60) and old.at < v_last - interval '14 days'
     limit 1000));
  return v_written;
end
$$;

-- Private: counts one minute, once. Reads at most 20,000 jobs that ended and 20,000 that were created, and writes the
-- 100 most frequent pairs of queue and type of each; a count that met a bound is marked. Cancelled jobs have not
-- failed. Created jobs are found by the time in their ids, so in the native table.
create or replace function "unstuck"."count_minute"(p_from timestamptz)
returns int language plpgsql set enable_seqscan = off as $$
declare
  c_most constant int := 20000;
  c_pairs constant int := 100;
  v_from timestamptz := p_from;
  v_to timestamptz := p_from + interval '1 minute';
  v_created jsonb := '[]';
  v_ended jsonb;
  v_is_bounded boolean := false;
  v_is_ended_bounded boolean;
begin
  if exists (select from "unstuck".trends
              where attachment = /*attachment*/'native' and span_min = 1 and at = v_from and source = 'rows') then
    return 0;
  end if;
  if /*attachment*/'native' = 'native' then
    select coalesce(jsonb_agg(jsonb_build_object('queue', queue, 'type', type, 'enqueued', count)), '[]'),
           coalesce(max(total) >= c_most or max(pairs) > c_pairs, false)
      into v_created, v_is_bounded
      from (select created.queue, created.type, count(*) as count, (sum(count(*)) over ())::bigint as total,
                   count(*) over () as pairs
              from (select coalesce(job."queue", job."type")::text as queue, job."type"::text as type
                      from "unstuck"."jobs" job
                     where job."id" >= "unstuck".lowest_uuid_v7(v_from)::text::/*id*/uuid
                       and job."id" < "unstuck".lowest_uuid_v7(v_to)::text::/*id*/uuid
                     order by job."id" limit c_most) created
             group by created.queue, created.type order by count desc limit c_pairs) pair;
  end if;
  select coalesce(jsonb_agg(to_jsonb(pair)), '[]'), coalesce(max(total) >= c_most or max(pairs) > c_pairs, false)
    into v_ended, v_is_ended_bounded
    from (select ended.queue, ended.type, count(*) filter (where ended.is_completed) as completed,
                 count(*) filter (where ended.is_failed) as failed, (sum(count(*)) over ())::bigint as total,
                 count(*) over () as pairs,
                 "unstuck".count_durations(array_agg("unstuck".ms_between(ended.began_at, ended.ended_at))
                                             filter (where ended.is_completed or ended.is_failed)) as runs
            from (select coalesce(job."queue", job."type")::text as queue, job."type"::text as type,
                         job."status" = /*succeeded*/'succeeded' as is_completed,
                         job."status" = /*dead*/'dead' as is_failed,
                         coalesce(job."last_attempt_at", job."started_at") as began_at,
                         coalesce(job."finished_at", job."updated_at", job."created_at") as ended_at
                    from "unstuck"."jobs" job
                   where job."status" in /*ended_words*/('succeeded', 'dead', 'cancelled')
                     and coalesce(job."finished_at", job."updated_at", job."created_at") >= v_from
                     and coalesce(job."finished_at", job."updated_at", job."created_at") < v_to
                   order by coalesce(job."finished_at", job."updated_at", job."created_at") limit c_most) ended
           group by ended.queue, ended.type order by count(*) desc limit c_pairs) pair;
  if v_created || v_ended = '[]' then
    return 0; -- Most of the fifteen minutes of a quiet table.
  end if;
  return "unstuck".add_trends(/*attachment*/'native', v_from, 'rows', v_created || v_ended,
                               v_is_bounded or v_is_ended_bounded);
end
$$;

-- Private: the lowest id that uuid_v7 gives at a time.
create or replace function "unstuck".lowest_uuid_v7(p_at timestamptz)
returns uuid language sql immutable
return encode(int8send((extract(epoch from p_at) * 1000)::bigint << 16) || decode('0000000000000000', 'hex'),
              'hex')::uuid;
