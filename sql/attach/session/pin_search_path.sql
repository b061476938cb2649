-- So that nobody's operators and functions are taken for PostgreSQL's: not now, nor in what is created here.
set search_path = pg_catalog, pg_temp;
