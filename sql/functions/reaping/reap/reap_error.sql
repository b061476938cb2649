-- Private: what a reap writes into the error column that the team reads, in the words of its profile.
create or replace function "unstuck"."reap_error"(p_action text, p_lease_ms bigint, p_worker_id text, p_attempt int)
returns text language sql immutable
return replace(replace(replace(
           case p_action when 'requeued' then /*requeued_text*/'lease_expired'
                         when 'dead' then /*dead_text*/'lease_expired' else 'cancelled' end,
           '{lease_min}', trim_scale(round(p_lease_ms / 60000.0, 1))::text),
           '{worker_id}', coalesce(p_worker_id, 'unknown')),
           '{attempt}', coalesce(p_attempt, 0)::text);
