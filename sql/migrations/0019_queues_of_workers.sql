-- Replaced by one with the queue of the job.
drop function if exists "unstuck".worker_facts(text, text, jsonb);
