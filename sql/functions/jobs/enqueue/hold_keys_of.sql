-- Private: hold_keys for jobs that exist, and are to wait again. Jobs are locked before keys, as everywhere.
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
