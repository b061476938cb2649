-- The trigger of mode enforce, with the words and columns of this install.
select "unstuck"."set_mode"(mode) from "unstuck".attachments where name = /*attachment*/'native' and mode = 'enforce'
