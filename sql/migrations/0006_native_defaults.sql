-- Times of the native table for jobs of seconds to minutes: a shorter lease, sweep interval and backoff after a reap.
alter table "unstuck".policies
  alter column default_lease_ms set default 60000,
  alter column sweep_interval_ms set default 10000,
  alter column reap_backoff_steps_ms set default '{1000,10000,60000}',
  alter column reap_backoff_base_ms set default 1000,
  alter column reap_backoff_max_ms set default 60000;

-- An installed table follows unless one of its times was changed: they belong together. Attached tables keep theirs.
update "unstuck".policies
   set default_lease_ms = default, sweep_interval_ms = default, reap_backoff_steps_ms = default,
       reap_backoff_base_ms = default, reap_backoff_max_ms = default
 where attachment = 'native' and default_lease_ms = 300000 and heartbeat_ms = 15000 and sweep_interval_ms = 60000
   and reap_backoff_steps_ms = '{30000,120000,600000}' and reap_backoff_base_ms = 30000
   and reap_backoff_max_ms = 600000;
