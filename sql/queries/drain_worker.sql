select "unstuck".drain_worker(/*attachment*/'native', $1::text, $2::text, $3::text) as outcome
