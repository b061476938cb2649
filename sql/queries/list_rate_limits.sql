select * from "unstuck".list_rate_limits($1::text, $2::int)
