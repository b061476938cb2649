-- Private: refuses the claim of a job whose table has no status and no time for success: completed, it would look like a
-- waiting one (OPS-13). Called where the lock would be written.
create or replace function "unstuck".refuse_claim(p_attachment text)
returns timestamptz language plpgsql as $$
begin
  raise exception using
    errcode = 'UN006',
    message = format('%s has no status and no time for success, so unstuck claims none of its jobs. The plan prints the '
                     'column that is missing: unstuck attach --plan', p_attachment);
end
$$;
