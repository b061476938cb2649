-- Private: has a job been sent back so often, or for so long, that people should know of it? Nothing ends it for that
-- (RATE-5). p_started_at is when it was first claimed.
create or replace function "unstuck".is_released_often(p_releases int, p_started_at timestamptz, p_now timestamptz)
returns boolean language sql stable
return coalesce(p_releases >= 20 or p_releases > 0 and p_started_at <= p_now - interval '24 hours', false);
