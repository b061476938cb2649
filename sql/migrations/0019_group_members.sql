-- "jobs_group_members" has taken the place of two indexes (docs/adr/0058): every update of a job opens all of them.
drop index if exists "unstuck"."jobs_group_heads";
drop index if exists "unstuck"."jobs_group_running";
