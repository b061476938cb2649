-- Jobs that a half-open breaker let through and that ended without reporting a call, since it last heard of one.
alter table "unstuck".breakers add column unheard int not null default 0;
alter type "unstuck".breaker_status add attribute unheard int;

-- Replaced by functions with other arguments.
drop function if exists "unstuck".worker_facts(text, text);
