update "unstuck".requests set status = $3::int, answer = $4::text where actor = $1::text and key = $2::text
