select outcome, lease_ms::bigint, deadline_ms::bigint
  from "unstuck"."enter_stage"($1::text::/*id*/uuid, $2::text::uuid, $3::text, ($4::text)::jsonb)
