-- Private: is any queue of this table paused or bound to a dependency, or any worker reserved? The only cost for
-- claims of a table without such rules.
create or replace function "unstuck".has_queue_rules(p_attachment text)
returns boolean language plpgsql stable as $$
begin
  return exists (select from "unstuck".dependencies where attachment = p_attachment)
      or exists (select from "unstuck".pauses where attachment = p_attachment)
      or exists (select from "unstuck".kept_workers where attachment = p_attachment);
end
$$;
