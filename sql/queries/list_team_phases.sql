select distinct phase from "unstuck".team_objects where attachment = /*attachment*/'native'
