-- Private: the name of a team's function or view as ALTER and DROP take it.
create or replace function "unstuck".team_object_identity(p_kind text, p_schema text, p_name text, p_takes text)
returns text language sql immutable strict
return case when p_kind = 'view' then format('%I.%I', p_schema, p_name)
              else format('%I.%I(%s)', p_schema, p_name, p_takes) end;
