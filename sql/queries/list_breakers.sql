select * from "unstuck".list_breakers()
