-- Private: has a job been released so often, or for so long, that people should know? Nothing ends it for that
-- (RATE-5). p_started_at is its first claim.
create or replace function "unstuck".is_released_often(p_releases int, p_started_at timestamptz, p_now timestamptz)
returns boolean language sql stable
return coalesce(p_releases >= 20 or p_releases > 0 and p_started_at <= p_now - interval '24 hours', false);

-- Private: the wait of a job released for a reason: the requested one; for a job released often, twice its last such
-- wait, from a second to an hour. p_last_ms is NULL if its last attempt ended otherwise.
create or replace function "unstuck".release_delay_ms(p_asked_ms float8, p_last_ms float8, p_is_often boolean)
returns float8 language sql immutable
return case when p_is_often then greatest(p_asked_ms, least(greatest(2 * p_last_ms, 1000), 3600000))
              else p_asked_ms end;

-- Private: the wait after the last attempt of a job, if that was a release for a reason; else NULL.
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
