-- Records the results of calls to a dependency: [{ is_failure, job_id, limited_ms }]. A closed breaker judges its
-- window once per report. A half-open one counts only the jobs that it let through; a call without a job_id counts for
-- the oldest of them. Calls that arrive while it is open are late and change nothing. limited_ms is a pause that the
-- service asked for: no sign of health, and no job starts before its end. A job_id alone made no call, and gives back
-- its slot.
create or replace function "unstuck"."record_calls"(p_name text, p_calls jsonb)
returns setof "unstuck".breaker_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_breaker "unstuck".breakers;
  v_now timestamptz;
  v_reported boolean[];
  v_probes int; v_failures int; v_unheard int;
  v_limited_ms float8;
begin
  perform "unstuck".require_calls(p_calls);
  v_breaker := "unstuck".lock_breaker(p_name);
  v_now := clock_timestamp();
  if not v_breaker.is_open then
    v_reported := array(select (call ->> 'is_failure')::boolean
                          from jsonb_array_elements(p_calls) with ordinality asked(call, ordinal)
                         where call ? 'is_failure' order by asked.ordinal);
    v_breaker.calls := v_breaker.calls || v_reported;
    if v_breaker.window_ms is not null then
      v_breaker.called_at := v_breaker.called_at || array_fill(v_now, array[cardinality(v_reported)]);
    end if;
    v_breaker := "unstuck".forget_calls(v_breaker, v_now);
    v_failures := cardinality(array_positions(v_breaker.calls, true));
    update "unstuck".breakers set calls = v_breaker.calls, called_at = v_breaker.called_at where name = p_name;
    if cardinality(v_breaker.calls) >= least(v_breaker.min_calls, v_breaker.window_calls)
       and v_failures::float8 / cardinality(v_breaker.calls) >= v_breaker.fail_threshold then
      perform "unstuck".open_breaker(p_name);
    end if;
  elsif v_breaker.mode = 'half-open' and v_breaker.cooldown_until <= v_now then
    with asked as (
      select call ->> 'job_id' as job_id, coalesce((call ->> 'is_failure')::boolean, false) as is_failure,
             call ? 'is_failure' and coalesce((call ->> 'limited_ms')::float8, 0) = 0 as is_telling,
             call ? 'is_failure' as is_call,
             row_number() over (partition by call ->> 'job_id' is null order by ordinal) as place
        from jsonb_array_elements(p_calls) with ordinality each(call, ordinal)
    ), running as (
      select probe.*, named.is_so as is_named
        from "unstuck".probes probe,
             lateral (select probe.attachment = /*attachment*/'native'
                               and exists (select from asked where asked.job_id = probe.job_id) as is_so) named
       where probe.breaker = p_name and probe.failed_at is null
         and (named.is_so or probe.granted_at > "unstuck".after_ms(v_now, -v_breaker.probe_timeout_ms))
    ), answered as (
      select placed.attachment, placed.job_id, bool_or(asked.is_failure) as is_failure,
             bool_and(asked.is_telling) as is_telling, bool_or(asked.is_call) as is_call
        from (select running.*, row_number() over (
                       partition by is_named order by granted_at, attachment, job_id) as place from running) placed
        join asked on case when placed.is_named then asked.job_id = placed.job_id
                           else asked.job_id is null and asked.place = placed.place end
       group by placed.attachment, placed.job_id
    ), gone as (
      delete from "unstuck".probes probe using answered
       where probe.breaker = p_name and probe.attachment = answered.attachment and probe.job_id = answered.job_id
         and not answered.is_failure
      returning answered.is_telling, answered.is_call
    )
    select (select count(*) from gone where is_telling), (select count(*) from answered where is_failure),
           (select count(*) from gone where not is_call)
      into v_probes, v_failures, v_unheard;
    if v_failures > 0 then
      perform "unstuck".open_breaker(p_name);
    elsif v_probes > 0 then
      perform "unstuck".count_successes(v_breaker, v_probes);
    elsif v_unheard > 0 then
      update "unstuck".breakers set unheard = unheard + v_unheard where name = p_name;
    end if;
  end if;
  select max((call ->> 'limited_ms')::float8) into v_limited_ms from jsonb_array_elements(p_calls) call;
  if v_limited_ms > 0 then
    perform "unstuck".limit_breaker(p_name, v_limited_ms);
  end if;
  return query select * from "unstuck".list_breakers(p_name);
end
$$;

-- Private: a breaker without the calls that have left its window: those before the last window_calls, and those older
-- than window_ms.
create or replace function "unstuck".forget_calls(p_breaker "unstuck".breakers, p_now timestamptz)
returns "unstuck".breakers language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_first int := "unstuck".first_recent_call(
    p_breaker.calls, p_breaker.called_at, p_breaker.window_calls, p_breaker.window_ms, p_now);
begin
  p_breaker.calls := p_breaker.calls[v_first:];
  p_breaker.called_at := p_breaker.called_at[v_first:];
  return p_breaker;
end
$$;

-- Private: the place of the first call in the window.
create or replace function "unstuck".first_recent_call(
  p_calls boolean[], p_called_at timestamptz[], p_window_calls int, p_window_ms float8, p_now timestamptz)
returns int language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return greatest(1, cardinality(p_calls) - p_window_calls + 1,
                  1 + (select count(*) from unnest(p_called_at) at
                        where at <= "unstuck".after_ms(p_now, -p_window_ms)));
end
$$;

-- Private: checks the argument of record_calls.
create or replace function "unstuck".require_calls(p_calls jsonb)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_bad jsonb;
begin
  perform "unstuck".require(jsonb_typeof(p_calls) = 'array', 'calls', p_calls::text, 'an array of calls');
  perform "unstuck".require(jsonb_array_length(p_calls) <= 10000, 'calls', jsonb_array_length(p_calls)::text,
                            'at most 10000 of them');
  select call into v_bad from jsonb_array_elements(p_calls) call
   where case when call ? 'is_failure' then jsonb_typeof(call -> 'is_failure') is distinct from 'boolean'
              else jsonb_typeof(call -> 'job_id') is distinct from 'string' end
      or coalesce(jsonb_typeof(call -> 'job_id'), 'null') not in ('string', 'null') limit 1;
  perform "unstuck".require(v_bad is null, 'call', v_bad::text,
                            'an object with is_failure, true or false, or with a job_id alone');
  select call -> 'limited_ms' into v_bad from jsonb_array_elements(p_calls) call
   where case jsonb_typeof(call -> 'limited_ms') when 'null' then false
              when 'number' then (call ->> 'limited_ms')::numeric not between 0 and 31536000000
              else call ? 'limited_ms' end limit 1;
  return "unstuck".require(v_bad is null, 'limited_ms', v_bad::text, 'milliseconds from 0 to one year');
end
$$;
