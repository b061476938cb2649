select name, profile, table_schema, table_name, added_columns, added_indexes, functions_digest
  from "unstuck".attachments order by name
