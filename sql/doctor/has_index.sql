select exists (select from pg_index join pg_class index on index.oid = indexrelid
                where indrelid = to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))
                  and index.relname = $1::text and indisvalid) as is_there
