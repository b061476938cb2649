update "unstuck".attachments
   set added_indexes = array(select distinct unnest(added_indexes || $1::text[]) order by 1)
 where name = /*attachment*/'native'
