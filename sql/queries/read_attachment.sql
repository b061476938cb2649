select profile, table_schema, table_name, attached_at, mode, on_foreign_settle, mode_since as since
  from "unstuck".attachments where name = /*attachment*/'native'
