-- Private: tells the workers of every table whose queues are bound to a breaker that there may be work.
create or replace function "unstuck".hint_dependents(p_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".send_hint("unstuck".policy_of(attachment))
     from "unstuck".dependencies where name = p_name group by attachment;
  return true;
end
$$;
