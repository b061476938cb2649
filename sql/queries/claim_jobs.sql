select *
  from "unstuck"."claim_jobs"($1::text, $2::text[], $3::int, $4::text[], $5::bigint, ($6::text)::jsonb, $7::text,
                              ($8::text)::jsonb)
