-- What a health probe of a dependency found, outside any job. During the cooldown it changes nothing. Good ones count
-- once per interval, so that the close takes its time however many workers probe.
create or replace function "unstuck".record_probe(p_name text, p_is_healthy boolean)
returns setof "unstuck".breaker_status language plpgsql as $$
declare
  v_breaker "unstuck".breakers;
  v_now timestamptz;
begin
  perform "unstuck".require(p_is_healthy is not null, 'is_healthy', p_is_healthy::text, 'true or false');
  v_breaker := "unstuck".lock_breaker(p_name);
  v_now := clock_timestamp();
  if v_breaker.is_open and v_now >= v_breaker.cooldown_until then
    if not p_is_healthy then
      perform "unstuck".open_breaker(p_name);
    elsif coalesce(v_now >= "unstuck".after_ms(v_breaker.probed_at, v_breaker.probe_interval_ms), true)
      and not "unstuck".count_successes(v_breaker, 1) then
      update "unstuck".breakers set probed_at = v_now where name = p_name;
    end if;
  end if;
  return query select * from "unstuck".list_breakers(p_name);
end
$$;
