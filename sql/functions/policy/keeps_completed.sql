-- Private: does a completion keep the row of a job of this type?
create or replace function "unstuck".keeps_completed(p_keep boolean, p_by_type jsonb, p_type text)
returns boolean language sql immutable
return coalesce((p_by_type -> p_type)::boolean, p_keep);
