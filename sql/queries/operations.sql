-- Changes to many jobs at once.

-- name: begin_operation
select "unstuck"."begin_operation"(($1::text)::jsonb) as answer;

-- name: take_operation
select "unstuck".take_operation(/*attachment*/'native', $1::bigint) as answer;

-- name: step_operation
select "unstuck"."step_operation"($1::text::uuid, $2::text::uuid, $3::int, $4::text, $5::bigint, $6::text[]) as answer;

-- name: give_back_operation
select "unstuck".give_back_operation(/*attachment*/'native', $1::text::uuid, $2::text::uuid) as is_given_back;

-- name: end_operation
select "unstuck".end_operation(/*attachment*/'native', $1::text::uuid, $2::text::uuid, $3::text, $4::text) as answer;

-- name: abort_operation
select "unstuck".abort_operation(
         /*attachment*/'native', case when "unstuck".is_id($1::text, 'uuid') then $1::text::uuid end, $2::text, $3::text
       ) as answer;

-- name: read_operation
select operation as answer
  from "unstuck".list_operations(
         /*attachment*/'native', $2::text, null, 1, case when "unstuck".is_id($1::text, 'uuid') then $1::text::uuid end)
 where "unstuck".is_id($1::text, 'uuid');

-- name: list_operations
select operation as answer
  from "unstuck".list_operations(/*attachment*/'native', $1::text, $2::text::uuid, $3::int);

-- name: list_changed_jobs
select job_id, place, outcome, status from "unstuck"."list_changed_jobs"($1::text::uuid, $2::int, $3::int);

-- name: count_operation_ends
select "unstuck"."count_operation_ends"($1::text::uuid) as answer;
