-- Records a health probe of a dependency, outside any job. In mode hold probes close the breaker after its cooldown.
-- In mode half-open only calls of jobs do: consecutive successful probes may end the first cooldown early, but no
-- later one, because a call has failed since. Successes count once per interval, however many workers probe.
create or replace function "unstuck".record_probe(p_name text, p_is_healthy boolean)
returns setof "unstuck".breaker_status language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_breaker "unstuck".breakers;
  v_now timestamptz;
  v_is_early boolean;
  v_counts boolean;
begin
  perform "unstuck".require(p_is_healthy is not null, 'is_healthy', p_is_healthy::text, 'true or false');
  v_breaker := "unstuck".lock_breaker(p_name);
  v_now := clock_timestamp();
  v_is_early := v_now < v_breaker.cooldown_until;
  v_counts := case when v_breaker.mode = 'hold' then not v_is_early else v_is_early and v_breaker.reopens = 0 end;
  if v_breaker.is_open and v_counts then
    if not p_is_healthy then
      if v_is_early then
        update "unstuck".breakers set successes = 0, probed_at = v_now where name = p_name;
      else
        perform "unstuck".open_breaker(p_name);
      end if;
    elsif coalesce(v_now >= "unstuck".after_ms(v_breaker.probed_at, v_breaker.probe_interval_ms), true) then
      if v_is_early and v_breaker.successes + 1 >= v_breaker.close_after then
        -- now(), which breaker_state compares with: the answer must say half-open already.
        update "unstuck".breakers set cooldown_until = now(), successes = 0, probed_at = null where name = p_name;
        perform "unstuck".hint_dependents(p_name);
      elsif not "unstuck".count_successes(v_breaker, 1) then
        update "unstuck".breakers set probed_at = v_now where name = p_name;
      end if;
    end if;
  end if;
  return query select * from "unstuck".list_breakers(p_name);
end
$$;

-- Private: jobs that a half-open breaker let through and that met the failure behind it, each with its queue.
create or replace function "unstuck".failed_probes(p_attachment text)
returns text[] language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select array_agg(concat_ws(' ', probe.job_id, dependency.queue)) from "unstuck".probes probe
            join "unstuck".dependencies dependency
              on dependency.attachment = probe.attachment and dependency.name = probe.breaker
           where probe.attachment = p_attachment and probe.failed_at is not null);
end
$$;
