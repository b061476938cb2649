-- Where the jobs that an operation changed are now, by status. Counts the first 10,000 of the operation; is_complete
-- says whether these were all.
create or replace function "unstuck"."count_operation_ends"(p_id uuid)
returns jsonb language plpgsql stable as $$
declare
  c_limit constant int := 10000;
  -- Before the statement with the function, which reads tables itself.
  v_is_complete boolean := not exists (select from "unstuck".operation_jobs more
                                        where more.operation_id = p_id and more.position > c_limit);
begin
  return (
    select jsonb_build_object(
             'waiting', count(*) filter (where changed.status = 'waiting'),
             'running', count(*) filter (where changed.status = 'running'),
             'succeeded', count(*) filter (where changed.status = 'succeeded'),
             'dead', count(*) filter (where changed.status = 'dead'),
             'cancelled', count(*) filter (where changed.status = 'cancelled'),
             'deleted', count(*) filter (where changed.status = 'deleted'),
             'is_complete', v_is_complete)
      from "unstuck"."list_changed_jobs"(p_id, 0, c_limit) changed
     where changed.outcome in ('retried', 'due', 'cancelled', 'cancel-requested', 'discarded'));
end
$$;
