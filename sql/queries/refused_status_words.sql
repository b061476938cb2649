select word from pg_catalog.unnest(current_setting('unstuck.refused_words')::text[]) word
