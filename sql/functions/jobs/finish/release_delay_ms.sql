-- Private: the wait of a job that is released for a reason: what was asked for; of one that was released often twice
-- the last such wait, from a second up to an hour. p_last_ms is NULL where its last attempt ended otherwise.
create or replace function "unstuck".release_delay_ms(p_asked_ms float8, p_last_ms float8, p_is_often boolean)
returns float8 language sql immutable
return case when p_is_often then greatest(p_asked_ms, least(greatest(2 * p_last_ms, 1000), 3600000))
              else p_asked_ms end;
