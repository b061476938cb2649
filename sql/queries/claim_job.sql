select * from "unstuck"."claim_job"($1::/*id*/uuid, $2::text, $3::bigint, ($4::text)::jsonb)
