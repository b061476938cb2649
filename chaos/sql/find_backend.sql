-- One that works for a worker or a reaper: the kernel takes whoever has too much memory.
select pid from pg_stat_activity
 where backend_type = 'client backend' and application_name like 'unstuck%' order by random() limit 1
