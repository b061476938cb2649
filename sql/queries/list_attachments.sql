select name, profile, table_schema, table_name, added_columns, added_indexes, functions, functions_digest,
       to_regclass(format('%I.%I', table_schema, table_name)) is not null as has_table
  from "unstuck".attachments order by name
