-- The channel for hints of new work on a table. A name too long for PostgreSQL is cut and made unique by a digest. One
-- expression, so that it is inlined.
create or replace function "unstuck".hint_channel(p_attachment text)
returns text language sql immutable
return case when octet_length(/*schema*/'unstuck' || '.' || p_attachment) <= 63
            then /*schema*/'unstuck' || '.' || p_attachment
            else left(/*schema*/'unstuck' || '.' || p_attachment, 30) || '.'
                 || left(encode(sha256((/*schema*/'unstuck' || '.' || p_attachment)::bytea), 'hex'), 32) end;
