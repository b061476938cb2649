-- Private: how many of these locked jobs a half-open breaker lets through as probes, from the first on. Never waits: a
-- breaker locked by another gives none this time, so that no claim can be part of a deadlock.
create or replace function "unstuck".take_probe_slots(p_attachment text, p_queue text, p_job_ids text[])
returns int language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_breaker "unstuck".breakers;
  v_state text;
  v_granted int;
begin
  select breaker.* into v_breaker
    from "unstuck".dependencies dependency
    join "unstuck".breakers breaker on breaker.name = dependency.name
   where dependency.attachment = p_attachment and dependency.queue = p_queue
     for no key update of breaker skip locked;
  v_state := "unstuck".breaker_state(
    v_breaker.held_at, v_breaker.held_until, v_breaker.is_open, v_breaker.mode, v_breaker.cooldown_until);
  if v_state = 'closed' and v_breaker.name is not null then
    return cardinality(p_job_ids);
  elsif v_state is distinct from 'half-open' then
    return 0;
  end if;

  -- A job that waits again is no longer a probe; neither is one a day old.
  delete from "unstuck".probes probe
   where probe.breaker = v_breaker.name
     and (probe.granted_at <= "unstuck".after_ms(v_now, -86400000)
          or (probe.attachment = p_attachment and probe.job_id = any (p_job_ids)));
  -- A probe that never reported gives up its slot after a while. Its row stays, because its failure may still arrive.
  select greatest(0, least(v_breaker.probe_slots - count(*), cardinality(p_job_ids))) into v_granted
    from "unstuck".probes probe
   where probe.breaker = v_breaker.name and probe.failed_at is null
     and probe.granted_at > "unstuck".after_ms(v_now, -v_breaker.probe_timeout_ms);
  if v_granted > 0 then
    insert into "unstuck".probes (breaker, attachment, job_id, granted_at)
    select v_breaker.name, p_attachment, job_id, v_now from unnest(p_job_ids[1:v_granted]) job_id;
    update "unstuck".breakers set slot_taken_at = v_now where name = v_breaker.name;
  end if;
  return v_granted;
end
$$;
