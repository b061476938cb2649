-- Routines of the schema with one of these names. The version changes with every write of the routine's entry.
select proname::text as name, oid::regprocedure::text as routine, md5(prosrc) as body, ctid::text as version
  from pg_proc where pronamespace = to_regnamespace(/*schema*/'unstuck') and proname = any ($1::text[])
 order by 1, 2
