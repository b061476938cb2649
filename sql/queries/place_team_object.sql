select "unstuck".place_team_object(/*attachment*/'native', ($1::text)::jsonb, $2::text)
