-- Notes that a table is attached. The policy of the profile is only the beginning: a stored one is never overwritten.
create or replace function "unstuck".register_table(
  p_attachment text, p_profile text, p_table_schema text, p_table_name text, p_policy jsonb)
returns boolean language plpgsql as $$
begin
  insert into "unstuck".attachments (name, profile, table_schema, table_name)
  values (p_attachment, p_profile, p_table_schema, p_table_name)
  on conflict (name) do update set profile = excluded.profile;
  if not exists (select from "unstuck".policies where attachment = p_attachment) then
    insert into "unstuck".policies (attachment) values (p_attachment);
    perform "unstuck".write_policy(p_attachment, p_policy);
  end if;
  insert into "unstuck".sweeps (attachment) values (p_attachment) on conflict do nothing;
  return true;
end
$$;
