-- Operations of a table, newest first. Continue with p_before = the last id of a full page. p_id selects one; p_owner
-- restricts the call to operations of that owner.
create or replace function "unstuck".list_operations(
  p_attachment text, p_owner text default null, p_before uuid default null, p_limit int default 100,
  p_id uuid default null)
returns table (operation jsonb) language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_operation "unstuck".operations;
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  for v_operation in
    select * from "unstuck".operations each
     where each.attachment = p_attachment and (p_id is null or each.id = p_id)
       and (p_before is null or each.id < p_before) and (p_owner is null or each.owner = p_owner)
     order by each.id desc limit p_limit
  loop
    operation := "unstuck".operation_record(v_operation);
    return next;
  end loop;
end
$$;
