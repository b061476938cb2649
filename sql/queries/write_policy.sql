select "unstuck".write_policy(/*attachment*/'native', ($1::text)::jsonb) as policy
