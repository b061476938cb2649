alter table "unstuck"."jobs" alter column "sampled_column" type timestamptz;
