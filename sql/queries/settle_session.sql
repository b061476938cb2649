-- For a session of our own: names and types of the catalogue are compared with ours, so they must not come in quotes;
-- and what is created here binds the operators and functions of PostgreSQL, whatever the caller's search_path has.
select set_config('quote_all_identifiers', 'off', false), set_config('standard_conforming_strings', 'on', false),
       set_config('unstuck.search_path', current_setting('search_path'), false),
       set_config('search_path', 'pg_catalog, pg_temp', false)
