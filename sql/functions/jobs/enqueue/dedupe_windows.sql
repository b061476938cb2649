-- Private: takes the windows of dedupe keys for new jobs (dedupe_for_ms). Returns, by position, the earlier job that
-- has the window instead; of several jobs of one call, the insert finds the first. Windows that have ended are deleted
-- on the way, twice as many as are taken. Citus takes no parameter in ON CONFLICT: there they are taken one by one, in
-- the same order.
create or replace function "unstuck".take_windows(
  p_attachment text, p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_ids text[], p_now timestamptz)
returns jsonb language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  c_is_distributed constant boolean := false /*+distributed or true */;
  v_asked record;
begin
  if c_is_distributed then
    for v_asked in
      select distinct on (asked.type, asked.dedupe_key) asked.type, asked.dedupe_key, p_ids[asked.place] as job_id,
             p_now + asked.dedupe_for_ms * interval '1 millisecond' as ends_at
        from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, null) asked
       where asked.dedupe_for_ms is not null and asked.dedupe_key is not null
       order by asked.type, asked.dedupe_key, asked.place
    loop
      delete from "unstuck".dedupe_windows held
       where held.attachment = p_attachment and held.type = v_asked.type and held.dedupe_key = v_asked.dedupe_key
         and held.ends_at <= p_now;
      insert into "unstuck".dedupe_windows (attachment, type, dedupe_key, job_id, ends_at)
      values (p_attachment, v_asked.type, v_asked.dedupe_key, v_asked.job_id, v_asked.ends_at)
          on conflict (attachment, type, dedupe_key) do nothing;
    end loop;
  else
    insert into "unstuck".dedupe_windows as held (attachment, type, dedupe_key, job_id, ends_at)
    select distinct on (asked.type, asked.dedupe_key) p_attachment, asked.type, asked.dedupe_key, p_ids[asked.place],
           p_now + asked.dedupe_for_ms * interval '1 millisecond'
      from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, null) asked
     where asked.dedupe_for_ms is not null and asked.dedupe_key is not null
     -- In one order, so that two calls with the same keys do not deadlock.
     order by asked.type, asked.dedupe_key, asked.place
    on conflict (attachment, type, dedupe_key) do update
      set job_id = excluded.job_id, ends_at = excluded.ends_at where held.ends_at <= p_now;
  end if;
  delete from "unstuck".dedupe_windows held
   using (select old.type, old.dedupe_key from "unstuck".dedupe_windows old
           where old.attachment = p_attachment and old.ends_at <= p_now
           order by old.ends_at limit 2 * cardinality(p_ids) for update skip locked) ended
   where held.attachment = p_attachment and held.type = ended.type and held.dedupe_key = ended.dedupe_key;
  return (select coalesce(jsonb_object_agg(asked.place, held.job_id), '{}')
            from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, p_now, null) asked
            join "unstuck".dedupe_windows held
              on held.attachment = p_attachment and held.type = asked.type and held.dedupe_key = asked.dedupe_key
           where asked.dedupe_for_ms is not null and held.job_id not in (select id from unnest(p_ids) id));
end
$$;

-- Private: gives back the windows of jobs that were not inserted, because an unfinished job has their key.
create or replace function "unstuck".return_windows(
  p_attachment text, p_shared jsonb, p_payloads jsonb, p_jobs jsonb, p_ids text[], p_created text[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  delete from "unstuck".dedupe_windows held
   using "unstuck".new_jobs(p_shared, p_payloads, p_jobs, null, null) asked
   where held.attachment = p_attachment and held.type = asked.type and held.dedupe_key = asked.dedupe_key
     and held.job_id = p_ids[asked.place] and held.job_id not in (select id from unnest(p_created) id);
  return true;
end
$$;
