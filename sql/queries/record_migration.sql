insert into "unstuck".migrations (name) values ($1::text)
