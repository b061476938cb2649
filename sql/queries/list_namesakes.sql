-- What the schema holds under names that an install would use: relations and types ($1), routines ($2).
select 'relation' as kind, relname::text as name from pg_class
 where relnamespace = to_regnamespace(/*schema*/'unstuck') and relname = any ($1::text[])
union all
select 'type', typname from pg_type
 where typnamespace = to_regnamespace(/*schema*/'unstuck') and typname = any ($1::text[])
   and typtype in ('d', 'e', 'r')
union all
select 'routine', proname from pg_proc
 where pronamespace = to_regnamespace(/*schema*/'unstuck') and proname = any ($2::text[])
order by 1, 2
