-- Private: registers an attached table. The policy of the profile applies at the first attach only. A renamed table
-- keeps what attach added to it.
create or replace function "unstuck".register_table(
  p_attachment text, p_profile text, p_table_schema text, p_table_name text, p_policy jsonb)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_oid oid := to_regclass(format('%I.%I', p_table_schema, p_table_name));
begin
  update "unstuck".attachments
     set added_columns = '{}', added_indexes = '{}'
   where name = p_attachment and (table_schema, table_name) <> (p_table_schema, p_table_name)
     and table_oid is distinct from v_oid;
  insert into "unstuck".attachments (name, profile, table_schema, table_name, table_oid)
  values (p_attachment, p_profile, p_table_schema, p_table_name, v_oid)
  on conflict (name) do update
     set profile = excluded.profile, table_schema = excluded.table_schema, table_name = excluded.table_name,
         table_oid = excluded.table_oid;
  if not exists (select from "unstuck".policies where attachment = p_attachment) then
    insert into "unstuck".policies (attachment) values (p_attachment);
    perform "unstuck".write_policy(p_attachment, p_policy);
  end if;
  insert into "unstuck".sweeps (attachment) values (p_attachment) on conflict do nothing;
  return true;
end
$$;
