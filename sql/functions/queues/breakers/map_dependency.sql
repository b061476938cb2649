-- Binds a queue to a dependency, whose breaker decides whether its jobs are claimed. NULL removes the binding. Returns
-- whether anything changed.
create or replace function "unstuck"."map_dependency"(p_queue text, p_name text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_count int;
begin
  perform "unstuck".require_queue(p_queue);
  if p_name is null then
    delete from "unstuck".dependencies where attachment = /*attachment*/'native' and queue = p_queue;
  else
    perform "unstuck".lock_breaker(p_name);
    insert into "unstuck".dependencies as known (attachment, queue, name)
    values (/*attachment*/'native', p_queue, p_name)
    on conflict (attachment, queue) do update set name = excluded.name where known.name <> excluded.name;
  end if;
  get diagnostics v_count = row_count;
  return v_count > 0;
end
$$;
