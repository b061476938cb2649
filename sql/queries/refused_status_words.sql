select word from unnest($1::text[]) word
 where not "unstuck".status_word_is_accepted(
         to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs')), $2::text, word)
