-- Before they are added: what is there already is the team's.
update "unstuck".attachments attached
   set added_columns = array(
     select asked.name from pg_catalog.unnest(attached.added_columns || $1::text[]) with ordinality asked(name, place)
      where asked.name = any (attached.added_columns)
         or not exists (select from pg_attribute where attrelid = attached.table_oid and attname = asked.name
                           and attnum > 0 and not attisdropped)
      group by asked.name order by min(asked.place))
 where attached.name = /*attachment*/'native'
