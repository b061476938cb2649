select profile, table_schema, table_name, "unstuck".iso_utc(attached_at) as attached_at, mode, on_foreign_settle,
       "unstuck".iso_utc(mode_since) as since
  from "unstuck".attachments where name = /*attachment*/'native'
