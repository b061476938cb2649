-- The channel on which workers of a table hear of new work. A name that PostgreSQL would refuse as too long is cut, and
-- told from others by its digest.
create or replace function "unstuck".hint_channel(p_attachment text)
returns text language sql immutable
begin atomic
  select case when octet_length(whole) <= 63 then whole
              else left(whole, 30) || '.' || left(encode(sha256(whole::bytea), 'hex'), 32) end
    from (select /*schema*/'unstuck' || '.' || p_attachment as whole) named;
end;
