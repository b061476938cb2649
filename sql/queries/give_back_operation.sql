select "unstuck".give_back_operation(/*attachment*/'native', $1::text::uuid, $2::text::uuid) as is_given_back
