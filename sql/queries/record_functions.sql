update "unstuck".attachments set functions_digest = $1::text where name = /*attachment*/'native'
