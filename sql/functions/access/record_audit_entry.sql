-- Private: records a change to anything but a job, in the transaction of the change. Anonymous changes are not
-- recorded.
create or replace function "unstuck".record_audit_entry(
  p_attachment text, p_type text, p_subject text, p_actor text, p_reason text, p_details jsonb default '{}')
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into "unstuck".audit_entries (attachment, type, subject, actor, reason, at, details)
  select p_attachment, p_type, p_subject, p_actor, p_reason, clock_timestamp(), jsonb_strip_nulls(p_details)
   where p_actor is not null;
  return found;
end
$$;
