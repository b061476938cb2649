select name from "unstuck".migrations order by name
