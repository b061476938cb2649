select health.*,
       "unstuck".hidden_jobs(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))) as hidden
  from "unstuck"."read_health"(($1::text)::jsonb) health
