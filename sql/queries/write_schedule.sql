select to_jsonb(schedule) as record
  from "unstuck"."write_schedule"(
         $1::text, $2::text, $3::text, ($4::text)::jsonb, $5::text::timestamptz, $6::text) schedule
