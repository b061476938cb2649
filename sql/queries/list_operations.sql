select operation
  from "unstuck".list_operations(/*attachment*/'native', $1::text, $2::text::uuid, $3::int)
