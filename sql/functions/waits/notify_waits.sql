-- Private: notifies the processes that wait for these jobs, in the transaction that ends them. Callers look first
-- whether anybody waits: NOTIFY serializes commits, and most completions must send none. The payload is the number of
-- a process and nothing else: any role may listen.
create or replace function "unstuck".notify_waits(p_attachment text, p_job_ids text[])
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify("unstuck".hint_channel(p_attachment || '.waits'), waiting.channel::text)
     from (select distinct channel from "unstuck".waits
            where attachment = p_attachment and job_id = any (p_job_ids) and ends_at > now()) waiting;
  return found;
end
$$;
