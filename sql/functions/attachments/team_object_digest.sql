-- Private: what tells one body of a team's function or view from another; NULL where there is none of this name.
-- PostgreSQL writes a view's text by the search_path: this one is fixed, and has public, as the sessions had whose
-- digests are recorded. The operands are exact.
create or replace function "unstuck".team_object_digest(p_kind text, p_identity text)
returns text language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select case when p_kind = 'view'
              then (select md5(coalesce(pg_get_viewdef(oid), '')) from pg_class
                     where oid = to_regclass(p_identity)::oid)
              else (select md5(prosrc) from pg_proc where oid = to_regprocedure(p_identity)::oid) end
$$;
