alter table "unstuck"."jobs" add column status text not null default /*waiting*/'waiting';
