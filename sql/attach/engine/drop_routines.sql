-- What $1 names, with its arguments. Without CASCADE: what the team built upon a routine is not ours to drop.
do $$
declare
  v_routine text;
begin
  foreach v_routine in array $1::text[] loop
    execute format('drop routine if exists %s', v_routine);
  end loop;
end
$$;
