-- Up to a limit: a person is asked, and no more than "very many" matters.
select count(*)::int as jobs from (select from "unstuck"."jobs" limit 100000) job
