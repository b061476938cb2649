-- Private: the row to lock for a queue, or for a group of it.
create or replace function "unstuck".claim_slot(p_attachment text, p_queue text, p_group text default null)
returns int language sql stable
return (hashtextextended(format('%s %L %L', p_attachment, p_queue, p_group), 0) & 1023)::int;

-- Private: locks these rows until the transaction ends, and returns those that no other claim holds. Never waits. They
-- are written, not only locked: under REPEATABLE READ a snapshot older than the last claim of a group fails with 40001.
create or replace function "unstuck".lock_claim_slots(p_slots int[])
returns int[] language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := clock_timestamp();
  v_locked int[];
begin
  with free as materialized (
    select lock.slot from "unstuck".claim_locks lock
     where lock.slot = any (p_slots) order by lock.slot for no key update skip locked
  ), taken as (
    update "unstuck".claim_locks lock set taken_at = v_now from free where lock.slot = free.slot
    returning lock.slot
  )
  select coalesce(array_agg(taken.slot), '{}') into v_locked from taken;
  return v_locked;
end
$$;

-- Private: locks the rows of groups, and returns the groups of which no other claim holds the row.
create or replace function "unstuck".lock_groups(p_attachment text, p_queue text, p_groups text[])
returns text[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_slots int[] := "unstuck".lock_claim_slots(array(
    select "unstuck".claim_slot(p_attachment, p_queue, name) from unnest(p_groups) name));
begin
  return array(select name from unnest(p_groups) with ordinality asked(name, place)
                where "unstuck".claim_slot(p_attachment, p_queue, name) = any (v_slots) order by place);
end
$$;
