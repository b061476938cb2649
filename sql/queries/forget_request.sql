delete from "unstuck".requests where actor = $1::text and key = $2::text and status is null
