insert into raw_jobs (queue, payload) select 'noop', payload from unnest($1::jsonb[]) payload returning id
