do $$
begin
  if not exists (select from pg_roles where rolname = 'unstuck_worker') then
    create role unstuck_worker login;
  end if;
end
$$;
alter role unstuck_worker set lock_timeout = '10s';
alter role unstuck_worker set statement_timeout = '60s';
alter role unstuck_worker set idle_in_transaction_session_timeout = '60s';
