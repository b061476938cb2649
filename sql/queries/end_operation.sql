select "unstuck".end_operation(/*attachment*/'native', $1::text::uuid, $2::text::uuid, $3::text, $4::text) as operation
