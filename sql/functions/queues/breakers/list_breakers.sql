-- Every breaker, or one of them, with its current state.
create or replace function "unstuck".list_breakers(p_name text default null)
returns setof "unstuck".breaker_status language sql stable set search_path = pg_catalog, pg_temp as $$
  select breaker.name, state.word, breaker.changed_at, breaker.changed_by, breaker.reason, cardinality(recent.calls),
         cardinality(array_positions(recent.calls, true)), breaker.successes,
         (select count(*) from "unstuck".probes probe
           where probe.breaker = breaker.name and probe.failed_at is null
             and probe.granted_at > "unstuck".after_ms(now(), -breaker.probe_timeout_ms))::int,
         case when breaker.is_open then greatest(0, "unstuck".ms_between(now(), greatest(
           breaker.cooldown_until, "unstuck".after_ms(breaker.probed_at, breaker.probe_interval_ms)))) end,
         case when state.word = 'held' then "unstuck".ms_between(now(), breaker.held_until) end,
         jsonb_build_object(
           'mode', breaker.mode, 'window_calls', breaker.window_calls, 'window_ms', breaker.window_ms,
           'min_calls', breaker.min_calls, 'fail_threshold', breaker.fail_threshold,
           'cooldown_ms', breaker.cooldown_ms, 'close_after', breaker.close_after,
           'probe_interval_ms', breaker.probe_interval_ms,
           'probe_slots', breaker.probe_slots, 'probe_timeout_ms', breaker.probe_timeout_ms),
         (select coalesce(jsonb_agg(jsonb_build_object('attachment', dependency.attachment, 'queue', dependency.queue)
                                    order by dependency.attachment, dependency.queue), '[]')
            from "unstuck".dependencies dependency where dependency.name = breaker.name),
         (select coalesce(jsonb_agg(jsonb_build_object('is_failure', call.is_failure, 'at', "unstuck".iso_utc(call.at))
                                    order by call.place), '[]')
            from unnest(recent.calls, recent.called_at) with ordinality call(is_failure, at, place)
           where call.place > cardinality(recent.calls) - 20),
         breaker.reopens,
         case when breaker.is_open and breaker.mode = 'half-open' and breaker.reopens = 0
                   and breaker.cooldown_until > now()
              then greatest(0, coalesce("unstuck".ms_between(
                now(), "unstuck".after_ms(breaker.probed_at, breaker.probe_interval_ms)), 0)) end,
         -- A probe that gave up its slot has reported nothing either. Once one was heard, the others are only slow.
         breaker.unheard + (select count(*) from "unstuck".probes probe
                             where probe.breaker = breaker.name and probe.failed_at is null and breaker.successes = 0
                               and probe.granted_at <= "unstuck".after_ms(now(), -breaker.probe_timeout_ms))::int
    from "unstuck".breakers breaker,
         lateral (select "unstuck".breaker_state(breaker.held_at, breaker.held_until, breaker.is_open, breaker.mode,
                                                 breaker.cooldown_until) as word) state,
         lateral (select "unstuck".first_recent_call(breaker.calls, breaker.called_at, breaker.window_calls,
                                                     breaker.window_ms, now()) as place) first,
         lateral (select breaker.calls[first.place:] as calls, breaker.called_at[first.place:] as called_at) recent
   where p_name is null or breaker.name = p_name
   order by breaker.name
$$;
