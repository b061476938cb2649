-- Private: locks the slots of dedupe keys until the transaction ends. Slots are written, not only locked: under
-- REPEATABLE READ a snapshot older than the last use of a key fails with 40001, as a unique index would.
create or replace function "unstuck".lock_keys(p_attachment text, p_types text[], p_keys text[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into "unstuck".dedupe_locks as held (slot)
  select distinct (hashtextextended(format('%s %L %L', p_attachment, asked.type, asked.key), 0) & 65535)::int as slot
    from unnest(p_types, p_keys) asked(type, key)
   -- In one order, so that two calls with the same keys do not deadlock.
   order by slot
  on conflict (slot) do update set slot = excluded.slot;
  return true;
end
$$;

-- Private: for tables whose own rows may share a dedupe key. Locks the keys of these jobs until the transaction ends
-- and returns the ids that may be inserted: jobs without a key, and the first of each key that no unfinished job has.
-- NULL means all: none has a key. Jobs at p_settled are not inserted.
create or replace function "unstuck"."hold_keys"(
  p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_ids /*id*/uuid[], p_settled int[])
returns /*id*/uuid[] language plpgsql set enable_seqscan = off as $$
declare
  v_types text[];
  v_keys text[];
begin
  select array_agg(asked.type), array_agg(asked.dedupe_key) into v_types, v_keys
    from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, null, null) asked where asked.dedupe_key is not null;
  if v_keys is null then
    return null;
  end if;
  perform "unstuck".lock_keys(/*attachment*/'native', v_types, v_keys);
  -- A separate statement, which sees what the last holder of a key committed.
  return array(
    select p_ids[asked.place]
      from (select job.place, job.type, job.dedupe_key,
                   row_number() over (partition by job.type, job.dedupe_key order by job.place) as turn
              from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, null, null) job
             where p_settled is null or job.place <> all (p_settled)) asked
     where asked.dedupe_key is null
        or asked.turn = 1
           and (select true from "unstuck"."jobs" twin
                 where twin."type"::text = asked.type and twin."dedupe_key"::text = asked.dedupe_key
                   and twin."status" in /*unfinished_words*/('waiting', 'running') limit 1) is not true);
end
$$;

-- Private: hold_keys for existing jobs that are to wait again. Jobs are locked before keys, as everywhere.
create or replace function "unstuck"."hold_keys_of"(p_ids /*id*/uuid[], p_owner text)
returns boolean language plpgsql set enable_seqscan = off as $$
declare
  v_types text[];
  v_keys text[];
begin
  with locked as materialized (
    select job."type"::text as type, job."dedupe_key"::text as dedupe_key from "unstuck"."jobs" job
     where job."id" = any (p_ids) and (p_owner is null or job."owner"::text = p_owner)
     order by job."id"
       for no key update of job
  )
  select array_agg(type), array_agg(dedupe_key) into v_types, v_keys from locked where dedupe_key is not null;
  return v_keys is null or "unstuck".lock_keys(/*attachment*/'native', v_types, v_keys);
end
$$;

-- Private: the unfinished job with this dedupe key; if it has ended since, the newest job that had the key. NULL if
-- another unique constraint of the table refused the job.
create or replace function "unstuck"."unfinished_job"(p_type text, p_dedupe_key text)
returns /*id*/uuid language plpgsql as $$
declare
  v_id /*id*/uuid;
begin
  select job."id" into v_id from "unstuck"."jobs" job
   where job."type"::text = p_type and job."dedupe_key"::text = p_dedupe_key
     and job."status" in /*unfinished_words*/('waiting', 'running')
   -- Rows of the team may share a key unless the profile declares it unique.
   order by job."created_at", job."id" limit 1;
  if v_id is null then
    select job."id" into v_id from "unstuck"."jobs" job
     where job."dedupe_key"::text = p_dedupe_key order by job."type"::text = p_type desc, job."created_at" desc limit 1;
  end if;
  if v_id is null then
    raise exception using
      errcode = 'UN001',
      message = format('job of type %s: got a row that a unique constraint of %s refuses, takes one that is new to it',
                       p_type, /*table*/'jobs');
  end if;
  return v_id;
end
$$;
