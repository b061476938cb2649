-- Private: the wait after the last attempt of a job, where that ended in a release for a reason; else NULL. A release
-- without one tells nothing.
create or replace function "unstuck"."last_release_ms"(p_id /*id*/uuid)
returns float8 language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select case when event.type = 'released' then (event.data #>> '{details,delay_ms}')::float8 end
            from "unstuck".events event
           where event.attachment = /*attachment*/'native' and event.job_id = p_id::text and event.type <> 'processing'
             and (event.type <> 'released' or event.data #>> '{details,reason}' is not null)
           order by event.id desc limit 1);
end
$$;
