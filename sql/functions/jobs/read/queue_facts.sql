-- Private: what keeps the jobs of a queue from being claimed: its pause, and the breaker of its dependency.
create or replace function "unstuck".queue_facts(p_attachment text, p_queue text)
returns jsonb language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object(
    'pause', (
      select jsonb_build_object('by', pause.paused_by, 'reason', pause.reason,
                                'since_ms', "unstuck".ms_between(pause.paused_at, now()),
                                'left_ms', "unstuck".ms_between(now(), pause.paused_until))
        from "unstuck".pauses pause
       where pause.attachment = p_attachment and pause.queue = p_queue
         and coalesce(pause.paused_until > now(), true)),
    'breaker', (
      select jsonb_build_object('name', breaker.name, 'state', breaker.state, 'by', breaker.changed_by,
                                'reason', breaker.reason, 'since_ms', "unstuck".ms_between(breaker.since, now()),
                                'next_probe_in_ms', breaker.next_probe_in_ms, 'held_for_ms', breaker.held_for_ms,
                                'probing', breaker.probing, 'probe_slots', breaker.settings -> 'probe_slots')
        from "unstuck".dependencies dependency, "unstuck".list_breakers(dependency.name) breaker
       where dependency.attachment = p_attachment and dependency.queue = p_queue))
$$;
