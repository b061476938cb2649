-- Before they are built, so that none is forgotten when a run is interrupted; what is there already is the team's.
update "unstuck".attachments attached
   set added_indexes = array(
     select asked.name from pg_catalog.unnest(attached.added_indexes || $1::text[]) with ordinality asked(name, place)
      where asked.name = any (attached.added_indexes)
         or not exists (select from pg_class where relname = asked.name and relnamespace = (
              select relnamespace from pg_class where oid = attached.table_oid))
      group by asked.name order by min(asked.place))
 where attached.name = /*attachment*/'native'
