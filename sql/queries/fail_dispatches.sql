select "unstuck".fail_dispatches(
         /*attachment*/'native', $1::text[], $2::text[]::uuid[], $3::int[], $4::text) as failed
