select "unstuck".report_worker(/*attachment*/'native', ($1::text)::jsonb) as is_drain_asked
