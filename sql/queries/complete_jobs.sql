select place::int, outcome
  from "unstuck"."complete_jobs"($1::text[]::/*id*/uuid[], $2::text[]::uuid[], $3::text[], $4::text)
         with ordinality settled(id, outcome, retry_in_ms, place)
 where outcome <> 'completed'
