-- Private: refuses a bad argument with one clear error, before anything is written.
create or replace function "unstuck".require(p_ok boolean, p_name text, p_got text, p_takes text)
returns boolean language plpgsql immutable as $$
begin
  if p_ok is not true then
    raise exception using
      errcode = 'UN001',
      message = format('%s: got %s, takes %s', p_name, coalesce(left(p_got, 60), 'NULL'), p_takes);
  end if;
  return true;
end
$$;
