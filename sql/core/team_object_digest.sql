-- Private: what tells one body of a team's function or view from another; NULL where there is none of this name.
create or replace function "unstuck".team_object_digest(p_kind text, p_identity text)
returns text language sql stable as $$
  select case when p_kind = 'view'
              then (select md5(coalesce(pg_get_viewdef(oid), '')) from pg_class where oid = to_regclass(p_identity))
              else (select md5(prosrc) from pg_proc where oid = to_regprocedure(p_identity)) end
$$;
