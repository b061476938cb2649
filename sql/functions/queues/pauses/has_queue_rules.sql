-- Private: is any queue of this table paused or bound to a dependency, or a worker kept for one job? All that a claim
-- pays where none is.
create or replace function "unstuck".has_queue_rules(p_attachment text)
returns boolean language plpgsql stable as $$
begin
  return exists (select from "unstuck".dependencies where attachment = p_attachment)
      or exists (select from "unstuck".pauses where attachment = p_attachment)
      or exists (select from "unstuck".kept_workers where attachment = p_attachment);
end
$$;
