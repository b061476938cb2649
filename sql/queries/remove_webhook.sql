select "unstuck".remove_webhook(/*attachment*/'native', $1::text::uuid) as is_removed
