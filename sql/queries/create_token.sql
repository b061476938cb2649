select "unstuck".create_token($1::text, decode($2::text, 'hex'), $3::text[], $4::text, $5::bigint, $6::text)
    as is_created
