select outcome, status, answer from "unstuck".begin_request($1::text, $2::text, decode($3::text, 'hex'))
