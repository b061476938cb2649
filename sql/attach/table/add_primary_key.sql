alter table "unstuck"."jobs" add primary key ("id");
