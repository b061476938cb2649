select "unstuck".remove_webhook(/*attachment*/'native', $1::text::uuid, $2::text, $3::text) as is_removed
