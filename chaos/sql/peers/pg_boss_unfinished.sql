select data ->> 'key' as job, state::text as state from pgboss.job
where name = 'work' and state::text in ('created', 'retry', 'active')
