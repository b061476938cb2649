-- Drops the routines in $1, without CASCADE: dependent objects belong to the team.
do $$
declare
  v_routine text;
begin
  foreach v_routine in array $1::text[] loop
    execute format('drop routine if exists %s', v_routine);
  end loop;
end
$$;
