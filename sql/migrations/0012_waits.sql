-- Processes that wait for the end of jobs (docs/adr/0041). Completions look here, and notify those that wait.

-- No reference to attachments: every wait would lock the same row. A wait ends by itself.
create table "unstuck".waits (
  attachment text not null,
  job_id     text not null,
  -- A random number of the waiting process: all that a notification carries.
  channel    int not null,
  ends_at    timestamptz not null,
  primary key (attachment, job_id, channel)
);

-- Workers read it with every completion: roles that were granted the tables before get this one too.
do $$
declare
  v_grant record;
begin
  for v_grant in
    select case acl.grantee when 0 then 'public' else acl.grantee::regrole::text end as grantee, acl.privilege_type
      from pg_class, aclexplode(relacl) acl
     where pg_class.oid = to_regclass(format('%I.deliveries', /*schema*/'unstuck')) and acl.grantee <> relowner
       and acl.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
  loop
    execute format('grant %s on %I.waits to %s', v_grant.privilege_type, /*schema*/'unstuck', v_grant.grantee);
  end loop;
end
$$;
