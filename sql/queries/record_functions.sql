update "unstuck".attachments set functions_digest = $1::text, functions = $2::text[] where name = /*attachment*/'native'
