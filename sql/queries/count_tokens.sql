select count(*)::int as tokens from "unstuck".tokens
