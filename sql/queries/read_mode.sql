select mode, on_foreign_settle, "unstuck".iso_utc(mode_since) as since
  from "unstuck".attachments where name = /*attachment*/'native'
