select count(*)::int as count from unstuck.jobs where status in ('waiting', 'running')
