select payload ->> 'key' as job,
       case when locked_at is not null then 'locked' when run_at > now() then 'in backoff' else 'waiting' end as state
from graphile_worker._private_jobs where attempts < max_attempts or locked_at is not null
