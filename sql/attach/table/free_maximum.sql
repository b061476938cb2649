-- An earlier version gave the column that it added a default, which hid the maximum of the policy. The values stay.
alter table "unstuck"."jobs" alter column "max_attempts" drop not null, alter column "max_attempts" drop default;
