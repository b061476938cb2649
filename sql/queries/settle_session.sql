-- For a session of our own: names and types of the catalogue are compared with ours, so they must not come in quotes.
select set_config('quote_all_identifiers', 'off', false), set_config('standard_conforming_strings', 'on', false)
