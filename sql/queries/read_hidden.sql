select "unstuck".hidden_jobs(to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'))) as hidden
