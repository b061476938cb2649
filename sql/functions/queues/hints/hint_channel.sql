-- The channel for hints of new work on a table. A name too long for PostgreSQL is cut and made unique by a digest.
create or replace function "unstuck".hint_channel(p_attachment text)
returns text language sql immutable
begin atomic
  select case when octet_length(whole) <= 63 then whole
              else left(whole, 30) || '.' || left(encode(sha256(whole::bytea), 'hex'), 32) end
    from (select /*schema*/'unstuck' || '.' || p_attachment as whole) named;
end;
