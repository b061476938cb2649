select to_jsonb(bucket) as record from "unstuck".list_rate_limits($1::text, $2::int) bucket
