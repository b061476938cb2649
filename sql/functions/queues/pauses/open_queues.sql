-- Private: the queues of a claim that may give jobs, and the limit of each whose breaker is half-open.
create or replace function "unstuck".open_queues(p_attachment text, p_queues text[])
returns table (queues text[], slots jsonb) language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(asked.name order by asked.ordinal), '{}'),
         jsonb_object_agg(asked.name, breaker.probe_slots) filter (where breaker.state = 'half-open')
    from unnest(p_queues) with ordinality asked(name, ordinal)
    left join (select dependency.queue, breaker.probe_slots, "unstuck".breaker_state(
                        breaker.held_at, breaker.held_until, breaker.is_open, breaker.mode, breaker.cooldown_until
                      ) as state
                 from "unstuck".dependencies dependency
                 join "unstuck".breakers breaker on breaker.name = dependency.name
                where dependency.attachment = p_attachment) breaker on breaker.queue = asked.name
   where coalesce(breaker.state, 'closed') in ('closed', 'half-open')
     and not exists (select from "unstuck".pauses pause
                      where pause.attachment = p_attachment and pause.queue = asked.name
                        and coalesce(pause.paused_until > now(), true))
$$;
