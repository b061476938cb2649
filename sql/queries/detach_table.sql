select "unstuck".detach_table($1::text) as is_detached
