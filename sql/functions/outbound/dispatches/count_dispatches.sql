-- The number of jobs waiting to be published to the outside queue.
create or replace function "unstuck".count_dispatches(p_attachment text)
returns int language sql stable set search_path = pg_catalog, pg_temp as $$
  select count(*)::int from "unstuck".dispatches where attachment = p_attachment
$$;
