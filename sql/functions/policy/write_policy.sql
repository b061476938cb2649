-- Changes the stored policy of a table, effective with the next call of anyone.
create or replace function "unstuck".write_policy(p_attachment text, p_change jsonb)
returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_policy "unstuck".policies := "unstuck".policy_of(p_attachment, p_change);
begin
  perform "unstuck".require(p_change is not null, 'change', null, 'an object');
  delete from "unstuck".policies where attachment = p_attachment;
  insert into "unstuck".policies select (v_policy).*;
  return to_jsonb(v_policy);
end
$$;
