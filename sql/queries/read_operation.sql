select operation
  from "unstuck".list_operations(
         /*attachment*/'native', $2::text, null, 1, case when "unstuck".is_id($1::text, 'uuid') then $1::text::uuid end)
 where "unstuck".is_id($1::text, 'uuid')
