-- Only operators and functions of PostgreSQL itself are found, now and in what is created here.
set search_path = pg_catalog, pg_temp;
