-- Missing indexes for searches by type and owner, with the statements that create them.
select missing.name as searched,
       format('create index concurrently on %I.%I (%I, %I)%s', /*table_schema*/'unstuck', /*table*/'jobs', missing.name,
              /*id_column*/'id', case when missing.name = /*owner_column*/'owner'
                                      then format(' where %I is not null', missing.name) else '' end) as statement
  from pg_catalog.unnest(array[/*type_column*/'type', /*owner_column*/'owner']) missing(name)
 where not "unstuck"."has_search_index"(missing.name)
