-- Private: holds the slots of these dedupe keys until the transaction ends. They are written, not only locked: if the
-- caller's snapshot is older than the last use of a key (REPEATABLE READ) it fails with 40001, as a unique index does.
create or replace function "unstuck".lock_keys(p_attachment text, p_types text[], p_keys text[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into "unstuck".dedupe_locks as held (slot)
  select distinct (hashtextextended(format('%s %L %L', p_attachment, asked.type, asked.key), 0) & 65535)::int as slot
    from unnest(p_types, p_keys) asked(type, key)
   -- Two calls with the same keys wait for each other in one order.
   order by slot
  on conflict (slot) do update set slot = excluded.slot;
  return true;
end
$$;
