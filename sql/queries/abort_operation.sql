select "unstuck".abort_operation(
         /*attachment*/'native', case when "unstuck".is_id($1::text, 'uuid') then $1::text::uuid end, $2::text, $3::text
       ) as answer
