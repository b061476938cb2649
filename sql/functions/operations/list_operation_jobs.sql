-- The outcomes of an operation's jobs in processing order, after p_after. list_changed_jobs also has their status now.
create or replace function "unstuck".list_operation_jobs(
  p_attachment text, p_id uuid, p_after int default 0, p_limit int default 100)
returns table (job_id text, place int, outcome text) language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  return query
  select each.job_id, each.position, each.outcome
    from "unstuck".operation_jobs each join "unstuck".operations operation on operation.id = each.operation_id
   where each.operation_id = p_id and operation.attachment = p_attachment and each.position > p_after
   order by each.position limit p_limit;
end
$$;
