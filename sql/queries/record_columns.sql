update "unstuck".attachments set added_columns = added_columns || $1::text[] where name = /*attachment*/'native'
