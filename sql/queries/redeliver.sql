select "unstuck".redeliver(/*attachment*/'native', $1::text::uuid) as outcome
