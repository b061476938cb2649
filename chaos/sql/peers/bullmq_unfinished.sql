select data ->> 'key' as job, state::text as state from bullmq.job where state::text not in ('completed', 'failed')
