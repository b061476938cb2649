-- Queues that a worker claims from while hints reach it; NULL if none does. By them workers take turns to wake.
alter table "unstuck".workers add column hinted_queues text[];
