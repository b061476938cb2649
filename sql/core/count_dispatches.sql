-- How many jobs still have to be told to the outside queue.
create or replace function "unstuck".count_dispatches(p_attachment text)
returns int language sql stable as $$
  select count(*)::int from "unstuck".dispatches where attachment = p_attachment
$$;
