select format('select %I.write_policy(%L, %L)', /*schema*/'unstuck', /*attachment*/'native', $1::text) as statement
