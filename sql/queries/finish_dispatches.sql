select "unstuck".finish_dispatches(/*attachment*/'native', $1::text[], $2::text[]::uuid[]) as finished
