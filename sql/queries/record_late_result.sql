select "unstuck"."record_late_result"($1::text::/*id*/uuid, $2::text::uuid, ($3::text)::jsonb) as is_recorded
