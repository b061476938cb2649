select payload ->> 'key' as job, status as state from unstuck.jobs where status in ('waiting', 'running')
