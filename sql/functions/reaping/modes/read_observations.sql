-- What sweeps would have done since the mode became observe, and what became of those jobs instead. came_back counts
-- reaps that would have been wrong; reaped those that somebody took back by hand.
create or replace function "unstuck"."read_observations"()
returns table (since timestamptz, would_requeue int, would_dead_letter int, would_cancel int, came_back int,
               still_stuck int, reaped int, gone int)
language sql stable as $$
  select coalesce(min(attached.mode_since) filter (where attached.mode = 'observe'), min(seen.seen_at)),
         count(*) filter (where seen.verdict = 'requeued')::int,
         count(*) filter (where seen.verdict = 'dead')::int,
         count(*) filter (where seen.verdict = 'cancelled')::int,
         count(*) filter (where became.outcome = 'came-back')::int,
         count(seen.job_id) filter (where coalesce(became.outcome, 'still-stuck') = 'still-stuck')::int,
         count(*) filter (where became.outcome = 'reaped')::int,
         count(*) filter (where became.outcome = 'gone')::int
    from "unstuck".attachments attached
    left join "unstuck".observations seen on seen.attachment = attached.name
    left join "unstuck"."observed_outcomes"() now_is
      on now_is.job_id = seen.job_id and now_is.lease = seen.lease and seen.outcome is null,
         lateral (select coalesce(seen.outcome, now_is.outcome) as outcome) became
   where attached.name = /*attachment*/'native'
$$;
