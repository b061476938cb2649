-- What is lost with the engine beside the tables of a profile. Tokens came with a migration of their own.
select to_regclass(format('%I.tokens', /*schema*/'unstuck')) is not null as has_tokens,
       array(select format('%s.%s', table_schema, table_name) from "unstuck".attachments
              where name <> 'native' order by name) as attached
