-- A backend that serves a worker or a reaper, as the kernel's OOM killer might pick it.
select pid from pg_stat_activity
 where backend_type = 'client backend' and application_name like 'unstuck%' order by random() limit 1
