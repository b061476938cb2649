select * from "unstuck".take_deliveries(/*attachment*/'native', $1::int, $2::bigint)
