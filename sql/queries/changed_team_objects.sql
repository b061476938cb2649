select name from "unstuck".team_objects
 where attachment = /*attachment*/'native' and digest is distinct from "unstuck".team_object_digest(
         kind, "unstuck".team_object_identity(kind, table_schema, name, takes))
