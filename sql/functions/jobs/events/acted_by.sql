-- Private: the part of an event's details that names who sent a worker's call, where that is known. Stable, so that
-- it is inlined.
create or replace function "unstuck".acted_by(p_actor text)
returns jsonb language sql stable
return case when p_actor is null then '{}' else jsonb_build_object('actor', p_actor) end;
