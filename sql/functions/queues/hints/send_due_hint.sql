-- Private: notifies listening workers of jobs that become due after these delays, so that an idle one claims them then
-- and not at its next poll. NULLs are ignored. One notification, as in send_hint, with the delays in milliseconds as
-- its payload: rounded up to tenths of a second, or to a hundredth of the time that they span. Jobs that are due in
-- over ten minutes are left to polling: by then the workers may be others.
create or replace function "unstuck".send_due_hint(p_policy "unstuck".policies, p_delays_ms float8[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payload text;
begin
  if p_policy.notify = 'off' then
    return false;
  end if;
  with soon as (
    select delay_ms from unnest(p_delays_ms) delay_ms where delay_ms <= 600000
  ), slot as (
    select greatest(100, ceil((max(delay_ms) - min(delay_ms)) / 100)) as ms from soon
  )
  select string_agg(due_ms::bigint::text, ',' order by due_ms) into v_payload
    from (select distinct ceil(delay_ms / slot.ms) * slot.ms as due_ms from soon, slot) due;
  -- Due now: as send_hint says it.
  perform pg_notify("unstuck".hint_channel(p_policy.attachment), case when v_payload = '0' then '' else v_payload end)
    where v_payload is not null;
  return v_payload is not null;
end
$$;
