select mode, on_foreign_settle, mode_since as since from "unstuck".attachments where name = /*attachment*/'native'
