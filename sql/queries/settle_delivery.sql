select "unstuck".settle_delivery(
         /*attachment*/'native', $1::text::uuid, $2::int, $3::boolean, $4::int, $5::text, $6::boolean) as outcome
