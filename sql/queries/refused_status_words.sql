select word from unnest(current_setting('unstuck.refused_words')::text[]) word
